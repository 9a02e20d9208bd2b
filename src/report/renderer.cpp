#include "report/renderer.h"

#include <array>

#include "report/builtin_renderers.h"

namespace tandem {

std::span<const RendererEntry> renderers() {
  static constexpr std::array table{
      RendererEntry{"table", "aligned columns for a terminal", makeTableRenderer},
      RendererEntry{"md", "a Markdown table", makeMarkdownRenderer},
      RendererEntry{"csv", "every option and every metric, one line per run", makeCsvRenderer},
      RendererEntry{"json", "the stored records, raw samples included", makeJsonRenderer},
  };
  return table;
}

}  // namespace tandem

#include "report/render/renderer.h"

#include <array>

#include "report/render/builtin_renderers.h"

namespace tandem {

std::span<const RendererEntry> renderers() {
  static constexpr std::array table{
      RendererEntry{"table", "aligned columns for a terminal", makeTableRenderer, printText, false},
      RendererEntry{"md", "a Markdown table", makeMarkdownRenderer, printMarkdown, false},
      RendererEntry{"csv", "every option and every metric, one line per run", makeCsvRenderer, printCsv, true},
      RendererEntry{"json", "the stored records, raw samples included", makeJsonRenderer, printJson, true},
      RendererEntry{"html", "one page with charts, for a browser; needs nothing beside it", makeHtmlRenderer, printHtml,
                    true},
  };
  return table;
}

}  // namespace tandem

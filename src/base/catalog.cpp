#include "base/catalog.h"

namespace tandem {

std::string unknownName(std::string_view kind, std::string_view name, std::span<const std::string> valid) {
  return unknownName(kind, name, valid, join(valid));
}

std::string unknownName(std::string_view kind, std::string_view name, std::span<const std::string> valid,
                        std::string_view validText) {
  const std::string near = nearest(name, valid);
  const std::string hint = near.empty() ? std::string() : concat("did you mean '", near, "'? ");
  return concat("unknown ", kind, " '", name, "'; ", hint, "valid: ", validText);
}

}  // namespace tandem

#include <nlohmann/json.hpp>

#include "measure/record/record_json.h"
#include "report/render/builtin_renderers.h"

namespace tandem {
namespace {

class JsonRenderer final : public Renderer {
 public:
  explicit JsonRenderer(std::ostream& out) : out_(out) {}

  void add(const RunRecord& record) override {
    out_ << (any_ ? ",\n" : "[\n") << toJson(record).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    any_ = true;
  }

  void end() override { out_ << (any_ ? "\n]\n" : "[]\n"); }

 private:
  std::ostream& out_;
  bool any_ = false;
};

}  // namespace

std::unique_ptr<Renderer> makeJsonRenderer(std::ostream& out) { return std::make_unique<JsonRenderer>(out); }

}  // namespace tandem

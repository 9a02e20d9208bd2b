#include <algorithm>

#include "base/catalog.h"
#include "base/statistics.h"
#include "base/text.h"
#include "report/published/published_tables.h"

namespace tandem {
namespace {

const PivotTable& seedTable(std::string_view name) { return find(publishedTables(), name, "table"); }

/// The recomputed tables of the sheet, by name.
class Sheet {
 public:
  explicit Sheet(const DataPointsOf& dataPointsOf) : figures_(dataPointsOf("tf_benchmarks")) {}

  Grid grid(const std::string& name) const { return gridOf(seedTable("tf_benchmarks/" + name), figures_); }

  /// "1.93x for 2, 3.87x for 4, 7.44x for 8": the medians of the columns with more than one device.
  std::string medians(const std::string& name, bool withOne) const {
    const Grid table = grid(name);
    std::vector<std::string> parts;
    for (size_t i = withOne ? 0 : 1; i < table.columns.size(); ++i) {
      parts.push_back(concat(textOf(name, *median(table.values(i))), " for ", join(table.columns[i], " ")));
    }
    return join(parts);
  }

  std::string overall(const std::string& name) const { return textOf(name, *median(grid(name).values())); }

  std::string superlinear() const {
    const Grid table = grid("efficiency");
    const auto count = std::ranges::count_if(table.values(), [](double cell) { return cell > 1; });
    return concat(count, " of ", table.values().size() - table.values(0).size(), " efficiencies are above 100%, up to ",
                  textOf("efficiency", std::ranges::max(table.values())));
  }

  /// Median rate of one such device.
  std::string ofOne(const std::string& device, const std::string& model) const {
    std::vector<double> rates;
    for (const Facts* row : figures_.matching({{"devices", "1"}, {"device", device}, {"model", model}})) {
      rates.push_back(*figures_.median("images_per_s", *row));
    }
    return fixed(*median(rates), 2);
  }

 private:
  static std::string textOf(const std::string& name, double value) {
    return cellText(seedTable("tf_benchmarks/" + name).form, value);
  }

  DataPoints figures_;
};

}  // namespace

ResultTable sheetObservations(const DataPointsOf& dataPointsOf) {
  const Sheet sheet(dataPointsOf);
  ResultTable table{{{"observation", "", false}, {"by the figures", "", false}}, {}, {}, "", 1};
  table.title = "Official TensorFlow benchmarks (2017), what the sheet observes";
  const auto add = [&](const std::string& text, const std::string& figures) {
    table.rows.push_back({{text, figures}, ""});
  };
  add("scaling is good: median speed-up", sheet.medians("speedup", false));
  add("efficiency falls with more GPUs: median", sheet.medians("efficiency", false));
  add("sometimes more than linear", sheet.superlinear());
  add("synthetic or real data: median ratio of images/s", sheet.medians("synthetic_real", true));
  add("batch 64 or 32: median ratio of speed-ups", sheet.medians("batch_speedups", true));
  add("batch 64 or 32: median ratio of images/s", sheet.medians("batch_rates", true));
  add("P100 against K80: median ratio of images/s", sheet.overall("p100_k80"));
  add("ResNet-50 against Inception-v3: median ratio of images/s", sheet.overall("resnet50_inception3"));
  add("one K80, Inception-v3: median images/s", sheet.ofOne("K80", "inception3"));
  add("one K80, ResNet-50: median images/s", sheet.ofOne("K80", "resnet50"));
  return table;
}

}  // namespace tandem

#include "report/render/shown_table.h"

#include "base/utf8.h"

namespace tandem {
namespace {

void show(std::string& text) { text = withoutControls(text); }

}  // namespace

ResultTable shownTable(ResultTable table) {
  show(table.title);
  for (TableColumn& column : table.columns) show(column.heading), show(column.unit);
  for (TableRow& row : table.rows) {
    for (std::string& cell : row.cells) show(cell);
    show(row.failure);
  }
  for (std::string& note : table.notes) show(note);
  return table;
}

}  // namespace tandem

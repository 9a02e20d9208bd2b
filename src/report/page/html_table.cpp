#include <algorithm>
#include <functional>

#include "base/text.h"
#include "report/page/escaping.h"
#include "report/page/html_page.h"

namespace tandem {
namespace {

constexpr size_t openRows = 100, foldedRows = 500, openNotes = 20;

/// Number of bars, which decides the height.
size_t barsOf(const Chart& chart) {
  const size_t inGroup = chart.kind == ChartKind::bars ? chart.series.size() : 1;
  return chart.labels.size() * inGroup;
}

std::string spoken(const Chart& chart, const std::string& name) {
  return concat("Chart: ", chart.title.empty() ? name : chart.title, ", ", chart.y,
                "; the table below has its numbers");
}

void printChart(const Chart& chart, const std::string& name, std::ostream& out) {
  out << "<figure class=\"chart " << nameOf(chart.kind) << "\" data-bars=\"" << barsOf(chart) << "\">\n";
  if (!chart.title.empty() || !chart.caveat.empty()) {
    out << "<figcaption><bdi>" << htmlText(chart.title) << "</bdi>";
    if (!chart.caveat.empty()) out << " <span class=\"caveat\"><bdi>" << htmlText(chart.caveat) << "</bdi></span>";
    out << "</figcaption>\n";
  }
  out << "<div class=\"box\"><canvas role=\"img\" aria-label=\"" << htmlText(spoken(chart, name))
      << "\"></canvas></div>\n"
      << "<script type=\"application/json\">" << jsonOf(chart) << "</script>\n</figure>\n";
}

void printPictures(const std::vector<TablePicture>& pictures, std::ostream& out) {
  if (pictures.empty()) return;
  out << "<div class=\"pictures\">\n";
  for (const TablePicture& picture : pictures) {
    const std::string caption = htmlText(picture.caption);
    out << "<figure><img alt=\"" << caption << "\" src=\"data:image/png;base64," << base64(picture.png)
        << "\"><figcaption><bdi>" << caption << "</bdi></figcaption></figure>\n";
  }
  out << "</div>\n";
}

std::string_view classOf(const TableColumn& column) {
  return column.caveats ? " class=\"caveats\"" : column.rightAligned ? " class=\"number\"" : "";
}

void printHeading(const ResultTable& table, std::ostream& out) {
  out << "<thead><tr>";
  for (const TableColumn& column : table.columns) {
    out << "<th scope=\"col\"" << classOf(column) << "><bdi>" << htmlText(column.heading) << "</bdi>";
    if (!column.unit.empty()) out << " <small>" << htmlText(column.unit) << "</small>";
    out << "</th>";
  }
  out << "</tr></thead>\n";
}

void printRow(const ResultTable& table, const TableRow& row, std::ostream& out) {
  const bool failed = !row.failure.empty();
  out << (failed ? "<tr class=\"failed\">" : row.caveat ? "<tr class=\"caveat\">" : "<tr>");
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const std::string_view open = i < table.labels ? "th scope=\"row\"" : "td", close = i < table.labels ? "th" : "td";
    out << '<' << open << classOf(table.columns[i]) << "><bdi>" << htmlText(row.cells[i]) << "</bdi></" << close << '>';
  }
  const size_t missing = table.columns.size() - std::min(table.columns.size(), row.cells.size());
  if (failed)
    out << "<td colspan=\"" << std::max<size_t>(1, missing) << "\"><bdi>" << htmlText(row.failure) << "</bdi></td>";
  if (!failed && missing > 0) out << "<td colspan=\"" << missing << "\"></td>";
  out << "</tr>\n";
}

void printRows(const ResultTable& table, const std::string& name, size_t first, size_t end, std::ostream& out) {
  out << "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" << htmlText(name) << "\">\n<table>\n";
  printHeading(table, out);
  out << "<tbody>\n";
  for (size_t row = first; row < end; ++row) printRow(table, table.rows[row], out);
  out << "</tbody>\n</table>\n</div>\n";
}

/// Prints `count` rows: the first `open` ones, then the others in folds. A browser lays a closed fold out only when it
/// is opened.
void printFolded(size_t count, size_t open, std::string_view what, std::ostream& out,
                 const std::function<void(size_t first, size_t end)>& print) {
  print(0, std::min(open, count));
  for (size_t first = open; first < count; first += foldedRows) {
    const size_t end = std::min(first + foldedRows, count);
    out << "<details>\n<summary>" << what << ' ' << first + 1 << " to " << end << " of " << count << "</summary>\n";
    print(first, end);
    out << "</details>\n";
  }
}

void printNotes(const ResultTable& table, std::ostream& out) {
  if (table.notes.empty()) return;
  printFolded(table.notes.size(), openNotes, "notes", out, [&](size_t first, size_t end) {
    out << "<ul class=\"notes\">\n";
    for (size_t i = first; i < end; ++i) out << "<li><bdi>" << htmlText(table.notes[i]) << "</bdi></li>\n";
    out << "</ul>\n";
  });
}

}  // namespace

void printTable(const ResultTable& table, const std::string& name, std::ostream& out) {
  const std::string& called = table.title.empty() ? name : table.title;
  out << "<div class=\"table" << (table.charts.empty() ? "" : table.charts.size() == 1 ? " one" : " many") << "\">\n";
  if (!table.title.empty()) out << "<h3><bdi>" << htmlText(table.title) << "</bdi></h3>\n";
  if (!table.charts.empty()) out << "<div class=\"charts\">\n";
  for (const Chart& chart : table.charts) printChart(chart, called, out);
  if (!table.charts.empty()) out << "</div>\n";
  printPictures(table.pictures, out);
  out << "<div class=\"numbers\">\n";
  printFolded(table.rows.size(), openRows, "rows", out,
              [&](size_t first, size_t end) { printRows(table, called, first, end, out); });
  printNotes(table, out);
  out << "</div>\n</div>\n";
}

}  // namespace tandem

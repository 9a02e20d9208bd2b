#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/tables/result_table.h"

namespace tandem {

/// A file of src/report/page, or Chart.js, compiled in.
struct PageFile {
  std::string_view name, text;
};

std::span<const PageFile> pageFiles();

struct PagePart {
  std::string id, title, text;
  std::vector<ResultTable> tables;
};

/// A fact in the head of the page.
struct PageFact {
  std::string name, value;
  std::string to = {};  ///< end of a range that begins with `value`; neither is broken over lines
};

/// A verdict in the head of the page.
struct PageFinding {
  std::string text, command;  ///< command: left out if empty
};

struct Page {
  std::string title;
  std::vector<PageFinding> findings;
  std::vector<PageFact> facts;
  std::vector<PagePart> parts;
};

/// Writes one self-contained HTML file, with style, scripts and numbers inside. Its Content-Security-Policy allows
/// those scripts, and pictures that the file holds, alone. All text is escaped. The same page gives the same bytes.
/// Tables need no script. Charts are drawn when they become visible, from the JSON beside each. Rows after the first
/// hundred are folded.
void printPage(const Page& page, std::ostream& out);

/// Writes the charts and pictures of a table, the table and its notes as HTML. `name` labels a table without a title.
void printTable(const ResultTable& table, const std::string& name, std::ostream& out);

}  // namespace tandem

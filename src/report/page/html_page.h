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

/// What stands above all tables: a few facts, and the conclusion.
struct PageFact {
  std::string name, value;
};

struct Page {
  std::string title;
  std::string finding, command;  ///< empty: left out
  std::vector<PageFact> facts;
  std::vector<PagePart> parts;
};

/// One HTML file that asks for nothing else: style, scripts and numbers are in it, and its Content-Security-Policy
/// allows those scripts alone. All text is escaped; the same page gives the same bytes. Tables stand without script;
/// charts are drawn, when they come into view, from the JSON beside each. Rows after the first hundred are folded.
void printPage(const Page& page, std::ostream& out);

/// The charts of a table, the table and its notes as HTML. `name` says what it is where it has no title.
void printTable(const ResultTable& table, const std::string& name, std::ostream& out);

}  // namespace tandem

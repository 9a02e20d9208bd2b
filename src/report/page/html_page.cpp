#include "report/page/html_page.h"

#include <algorithm>
#include <array>

#include "base/catalog.h"
#include "base/text.h"
#include "report/page/escaping.h"

namespace tandem {
namespace {

/// In execution order.
constexpr std::array<std::string_view, 5> scripts{"chart.js", "bands.js", "cells.js", "configs.js", "page.js"};
constexpr std::string_view style = "page.css";

std::string_view file(std::string_view name) { return find(pageFiles(), name, "file of the page").text; }

bool hasPictures(const PagePart& part) {
  return std::ranges::any_of(part.tables, [](const ResultTable& table) { return !table.pictures.empty(); });
}

std::string policy(const Page& page) {
  std::string sources;
  for (const std::string_view name : scripts) sources += concat(" '", integrityOf(file(name)), "'");
  return concat("default-src 'none'; script-src", sources, "; style-src '", integrityOf(file(style)), "'",
                std::ranges::any_of(page.parts, hasPictures) ? "; img-src data:" : "",
                "; base-uri 'none'; form-action 'none'");
}

void printHead(const Page& page, std::ostream& out) {
  out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      << "<meta http-equiv=\"Content-Security-Policy\" content=\"" << policy(page) << "\">\n"
      << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      << "<meta name=\"color-scheme\" content=\"light dark\">\n"
      << "<title>" << htmlText(page.title) << "</title>\n"
      << file("notice.html") << "<style>" << file(style) << "</style>\n</head>\n";
}

void printFinding(const PageFinding& finding, std::ostream& out) {
  out << "<p class=\"finding\"><bdi>" << htmlText(finding.text) << "</bdi></p>\n";
  if (finding.command.empty()) return;
  out << "<p class=\"repeat\">Repeat with</p>\n<pre><code>" << htmlText(finding.command) << "</code></pre>\n";
}

void printFact(const PageFact& fact, std::ostream& out) {
  out << "<dl><dt>" << htmlText(fact.name) << "</dt><dd>";
  if (fact.to.empty()) {
    out << "<bdi>" << htmlText(fact.value) << "</bdi>";
  } else {
    out << "<bdi class=\"whole\">" << htmlText(fact.value) << "</bdi> to <bdi class=\"whole\">" << htmlText(fact.to)
        << "</bdi>";
  }
  out << "</dd></dl>\n";
}

void printLead(const Page& page, std::ostream& out) {
  out << "<header>\n<h1>" << htmlText(page.title) << "</h1>\n";
  for (const PageFinding& finding : page.findings) printFinding(finding, out);
  if (!page.facts.empty()) out << "<div class=\"facts\">\n";
  for (const PageFact& fact : page.facts) printFact(fact, out);
  if (!page.facts.empty()) out << "</div>\n";
  out << "</header>\n";
  if (page.parts.size() < 2) return;
  out << "<nav aria-label=\"Sections\">\n";
  for (const PagePart& part : page.parts) out << "<a href=\"#" << part.id << "\">" << htmlText(part.title) << "</a>\n";
  out << "</nav>\n";
}

void printPart(const PagePart& part, std::ostream& out) {
  out << "<section id=\"" << part.id << "\">\n<h2>" << htmlText(part.title) << "</h2>\n";
  if (!part.text.empty()) out << "<p>" << htmlText(part.text) << "</p>\n";
  out << "<div class=\"tables\">\n";
  for (const ResultTable& table : part.tables) printTable(table, part.title, out);
  out << "</div>\n";
  out << "</section>\n";
}

}  // namespace

void printPage(const Page& page, std::ostream& out) {
  printHead(page, out);
  out << "<body>\n<main>\n";
  printLead(page, out);
  out << "<noscript><p class=\"caveat\">Charts need JavaScript; the tables hold all of their numbers.</p></noscript>\n";
  for (const PagePart& part : page.parts) printPart(part, out);
  out << "</main>\n";
  for (const std::string_view name : scripts) out << "<script>" << file(name) << "</script>\n";
  out << "</body>\n</html>\n";
}

}  // namespace tandem

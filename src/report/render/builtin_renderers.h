#pragma once

#include <memory>
#include <ostream>
#include <span>

#include "report/render/renderer.h"

/// The rows of renderers(): for each format a renderer of records, and a printer of tables. Tables, Markdown and CSV
/// show texts as withoutControls() gives them. JSON has them as they are, by its own rules, HTML as htmlText().
namespace tandem {

/// Aligned columns for a terminal: a heading, a line of units, the rows, the notes.
std::unique_ptr<Renderer> makeTableRenderer(std::ostream& out);

/// The same table in Markdown, the notes as a list.
std::unique_ptr<Renderer> makeMarkdownRenderer(std::ostream& out);

/// A heading, then a line per record: time, host, every option, every metric in full precision, outcome, reason,
/// steady, notes. Fields are quoted by RFC 4180, lines end with "\n". A value that was not measured is an empty field.
std::unique_ptr<Renderer> makeCsvRenderer(std::ostream& out);

/// An array of the stored records, written as they arrive.
std::unique_ptr<Renderer> makeJsonRenderer(std::ostream& out);

/// One HTML page with charts: every section of report/contents.h.
std::unique_ptr<Renderer> makeHtmlRenderer(std::ostream& out);

/// Prints tables below their titles, aligned for a terminal, or in Markdown.
void printText(std::span<const ResultTable> tables, std::ostream& out);
void printMarkdown(std::span<const ResultTable> tables, std::ostream& out);

/// Prints one line per cell by RFC 4180: table, row (its labels), column, value. Notes follow with empty row and
/// column.
void printCsv(std::span<const ResultTable> tables, std::ostream& out);

/// Prints an array with an object per table: title, columns, rows, notes. All values are the texts that people see.
void printJson(std::span<const ResultTable> tables, std::ostream& out);

/// Prints a page with a section per table and the charts of each.
void printHtml(std::span<const ResultTable> tables, std::ostream& out);

}  // namespace tandem

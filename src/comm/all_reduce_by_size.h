#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/group.h"

namespace tandem {

/// Which all-reduce sums a tensor: one for all of them, or by size: small ones by the first, larger ones by the next.
class AllReduceBySize {
 public:
  using Rows = std::vector<const AllReduceEntry*>;

  AllReduceBySize() = default;  ///< none
  /// The row sums all tensors. Null: none.
  AllReduceBySize(const AllReduceEntry* row);  // NOLINT(google-explicit-constructor): a row is the usual choice
  /// `upTo`: the most bytes of a tensor that each row but the last sums. REQUIRES: they grow, and are one less than
  /// rows.
  AllReduceBySize(Rows rows, std::vector<int64_t> upTo);

  const Rows& rows() const { return rows_; }
  const AllReduceEntry& of(int64_t bytes) const;
  /// Whether all rows have this.
  bool all(bool AllReduceEntry::*field) const;
  /// Whether any row leaves updates to the owners of slices.
  bool ownersUpdate() const;

  /// One handle per replica of this process, as those of AllReduceEntry::make().
  std::vector<std::unique_ptr<Group>> make(const GroupOptions& options) const;

  /// As the option --all-reduce takes it: "tree:32768:ring"; "ring".
  std::string optionValue() const;
  /// "tree up to 32 KiB, ring above"; "ring".
  std::string text() const;
  /// What sums the messages of these sizes: "tree for 2 of up to 32 KiB, ring for 3 larger ones"; "ring".
  std::string textFor(std::span<const int64_t> bytes) const;

 private:
  size_t placeOf(int64_t bytes) const;

  Rows rows_;
  std::vector<int64_t> upTo_;
};

}  // namespace tandem

#include "machine/cpu/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tandem {
namespace {

namespace fs = std::filesystem;

class CgroupFiles : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  Cgroup cgroup() const { return Cgroup(root_.string()); }

 private:
  fs::path root_;
};

TEST_F(CgroupFiles, NoFilesMeanNoLimit) {
  EXPECT_EQ(cgroup().cpus(), 0);
  EXPECT_FALSE(cgroup().memoryLeft());
}

TEST_F(CgroupFiles, ThrottledTimeIsThatOfTheGroupWhereItIsMost) {
  EXPECT_FALSE(cgroup().throttled());
  write("proc/self/cgroup", "0::/slice/pod\n");
  write("sys/fs/cgroup/slice/cpu.stat", "usage_usec 10\nthrottled_usec 7000\n");
  write("sys/fs/cgroup/slice/pod/cpu.stat", "usage_usec 10\nthrottled_usec 0\n");
  EXPECT_EQ(cgroup().throttled(), std::chrono::milliseconds(7));
  write("proc/self/cgroup", "3:cpu,cpuacct:/pod\n");
  write("sys/fs/cgroup/cpu/pod/cpu.stat", "nr_periods 1\nthrottled_time 5000000\n");
  EXPECT_EQ(cgroup().throttled(), std::chrono::milliseconds(5));
}

TEST_F(CgroupFiles, VersionTwoTakesTheStrictestAncestor) {
  write("proc/self/cgroup", "0::/slice/pod\n");
  write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/slice/pod/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/slice/pod/memory.max", "1000000\n");
  write("sys/fs/cgroup/slice/pod/memory.current", "400000\n");
  write("sys/fs/cgroup/slice/pod/memory.stat", "anon 300000\ninactive_file 50000\nfile 90000\n");
  write("sys/fs/cgroup/slice/memory.max", "max\n");
  write("sys/fs/cgroup/slice/memory.current", "400000\n");
  EXPECT_DOUBLE_EQ(cgroup().cpus(), 1.5);
  EXPECT_EQ(cgroup().memoryLeft(), 650000);
}

TEST_F(CgroupFiles, VersionTwoInsideAContainerIgnoresThePathOfTheHost) {
  write("proc/self/cgroup", "0::/host/path/of/the/container\n");
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(cgroup().cpus(), 2);
}

TEST_F(CgroupFiles, VersionOneReadsQuotasAndLimits) {
  write("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
  EXPECT_DOUBLE_EQ(cgroup().cpus(), 3);
  EXPECT_EQ(cgroup().memoryLeft(), 0);
}

}  // namespace
}  // namespace tandem

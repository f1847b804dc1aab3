package tables

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apkgate/apkgate/trace/perfetto/packets"
)

// covered are the kinds of packets that some table covers, and those that only support others or
// describe the recording: the names of packets.File.Counts.
var covered = []string{
	"ftrace_events", "process_tree", "process_stats", "clock_snapshot", "sys_stats", "track_event", "trace_config", "ftrace_stats", "trace_stats",
	"synchronization_marker", "battery", "android_log", "power_rails", "process_descriptor", "thread_descriptor", "system_info", "trigger",
	"compressed_packets", "zstd_compressed_packets", "gpu_counter_event", "gpu_render_stage_event", "graphics_frame_event", "track_descriptor",
	"vulkan_api_event", "cpu_info", "service_event", "initial_display_state", "gpu_mem_total_event", "extension_descriptor", "frame_timeline_event",
	"android_energy_estimation_breakdown", "android_system_property", "trace_uuid", "entity_state_residency", "remote_clock_sync",
	"clone_snapshot_trigger", "kernel_wakelock_data", "generic_kernel_task_state_event", "generic_kernel_cpu_freq_event", "cpu_per_uid_data",
	"generic_kernel_task_rename_event", "generic_kernel_process_tree", "trace_provenance", "trace_attributes", "gpu_info",
	"generic_gpu_frequency_event", "concurrent_session_event", "packages_list", "ui_state", "other",
}

// unread warns of content that no table covers.
func unread(f *packets.File) {
	counts := f.Counts()
	for _, kind := range covered {
		delete(counts, kind)
	}
	if len(counts) > 0 {
		f.Warnings.Addf(0, "no table covers these packets: %s", listed(counts))
	}
}

// listed lists counts by name, the largest first.
func listed(counts map[string]int) string {
	const most = 10
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	var out []string
	for i, name := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d other kinds", len(names)-most))
			break
		}
		out = append(out, fmt.Sprintf("%d of %s", counts[name], name))
	}
	return strings.Join(out, ", ")
}

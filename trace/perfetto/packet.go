package perfetto

import "google.golang.org/protobuf/encoding/protowire"

// The fields of TracePacket (trace_packet.proto) that this package reads.
const (
	fieldFtrace         = 1
	fieldProcessTree    = 2
	fieldClockSnapshot  = 6
	fieldTimestamp      = 8
	fieldSequence       = 10
	fieldSequenceFlags  = 13
	fieldBattery        = 38
	fieldPowerRails     = 40
	fieldStateCleared   = 41
	fieldPacketsDropped = 42
	fieldZlib           = 50
	fieldClockID        = 58
	fieldDefaults       = 59
	fieldConsumers      = 77
	fieldProperties     = 86
	fieldResidency      = 91
	fieldMachine        = 98
	fieldRemoteClocks   = 107
	fieldUIDTimes       = 119
	fieldZstd           = 133
)

// The bits of sequence_flags.
const (
	flagStateCleared = 1
	flagNeedsState   = 2
)

// packet is the frame of a TracePacket.
type packet struct {
	timestamp         uint64
	clockID           uint32 // 0 where not told
	sequence, machine uint32
	timed             bool // it bears a timestamp
	cleared           bool // the sequence starts anew
	dropped           bool // packets of the sequence are missing before it
	needsState        bool
	defaults          []byte
	kind              protowire.Number // of what it holds, 0 where not known
	data              []byte
}

// packetOf reads the frame of a packet, as far as it is whole.
func packetOf(message []byte) (packet, bool) {
	var p packet
	f := fieldsOf(message)
	for f.next() {
		switch f.number {
		case fieldTimestamp:
			p.timestamp, p.timed = f.value, true
		case fieldClockID:
			p.clockID = uint32(f.value)
		case fieldSequence:
			p.sequence = uint32(f.value)
		case fieldMachine:
			p.machine = uint32(f.value)
		case fieldSequenceFlags:
			p.cleared = p.cleared || f.value&flagStateCleared != 0
			p.needsState = f.value&flagNeedsState != 0
		case fieldStateCleared:
			p.cleared = p.cleared || f.value != 0
		case fieldPacketsDropped:
			p.dropped = f.value != 0
		case fieldDefaults:
			p.defaults = f.bytes
		default:
			if kindName(f.number) != "" {
				p.kind, p.data = f.number, f.bytes
			}
		}
	}
	return p, !f.broken
}

// kindName is the format's name of what a packet holds, "" for a field that
// belongs to the frame or is not known.
func kindName(number protowire.Number) string {
	if number > 0 && int(number) < len(kindNames) {
		return kindNames[number]
	}
	return ""
}

var kindNames = [...]string{
	1: "ftrace_events", 2: "process_tree", 4: "inode_file_map", 5: "chrome_events",
	6: "clock_snapshot", 7: "sys_stats", 9: "process_stats", 11: "track_event",
	33: "trace_config", 34: "ftrace_stats", 35: "trace_stats", 36: "synchronization_marker",
	37: "profile_packet", 38: "battery", 39: "android_log", 40: "power_rails",
	43: "process_descriptor", 44: "thread_descriptor", 45: "system_info", 46: "trigger",
	47: "packages_list", 48: "chrome_benchmark_metadata", 49: "perfetto_metatrace",
	50: "compressed_packets", 51: "chrome_metadata", 52: "gpu_counter_event",
	53: "gpu_render_stage_event", 54: "streaming_profile_packet", 57: "graphics_frame_event",
	60: "track_descriptor", 61: "module_symbols", 62: "vulkan_memory_event", 63: "gpu_log",
	64: "deobfuscation_mapping", 65: "vulkan_api_event", 66: "perf_sample", 67: "cpu_info",
	68: "smaps_packet", 69: "service_event", 70: "initial_display_state",
	71: "gpu_mem_total_event", 72: "extension_descriptor", 73: "memory_tracker_snapshot",
	74: "streaming_allocation", 75: "streaming_free", 76: "frame_timeline_event",
	77: "android_energy_estimation_breakdown", 78: "ui_state", 82: "translation_table",
	83: "android_game_intervention_list", 84: "statsd_atom", 86: "android_system_property",
	89: "trace_uuid", 90: "track_event_range_of_interest", 91: "entity_state_residency",
	93: "surfaceflinger_layers_snapshot", 94: "surfaceflinger_transactions", 95: "etw_events",
	96: "shell_transition", 97: "shell_handler_mappings", 99: "v8_js_code",
	107: "remote_clock_sync", 109: "chrome_trigger", 110: "pixel_modem_events",
	113: "clone_snapshot_trigger", 115: "kernel_wakelock_data", 117: "generic_kernel_task_state_event",
	118: "generic_kernel_cpu_freq_event", 119: "cpu_per_uid_data", 122: "generic_kernel_process_tree",
	123: "user_list", 124: "trace_provenance", 125: "protovms", 126: "trace_attributes",
	127: "android_aflags", 128: "gpu_info", 129: "generic_gpu_frequency_event",
	130: "interrupt_info", 131: "art_process_metadata", 132: "journald_event",
	133: "zstd_compressed_packets", 134: "concurrent_session_event", 135: "stack_sample",
}

-- table: threads
SELECT t.tid, t.name, p.pid, t.is_main_thread, t.start_ts, t.end_ts FROM thread t LEFT JOIN process p USING (upid)
-- table: processes
SELECT p.pid, p.name, p.uid, p.start_ts, p.end_ts, pp.pid AS parent_pid, p.cmdline FROM process p LEFT JOIN process pp ON p.parent_upid = pp.upid
-- table: sched
SELECT s.ts, s.dur, s.cpu, t.tid, s.end_state, s.priority FROM sched s LEFT JOIN thread t USING (utid)
-- table: thread-states
SELECT s.ts, s.dur, t.tid, s.state, s.cpu, w.tid AS waker_tid, s.io_wait, s.blocked_function, s.irq_context
FROM thread_state s LEFT JOIN thread t USING (utid) LEFT JOIN thread w ON s.waker_utid = w.utid
-- table: counters
SELECT c.ts, c.value, ct.name AS track_name, ct.type AS track_type, ct.unit, p.pid, th.tid, cc.cpu
FROM counter c JOIN counter_track ct ON c.track_id = ct.id LEFT JOIN cpu_counter_track cc ON c.track_id = cc.id
LEFT JOIN process_counter_track pc ON c.track_id = pc.id LEFT JOIN thread_counter_track tc ON c.track_id = tc.id
LEFT JOIN thread th ON tc.utid = th.utid LEFT JOIN process p ON coalesce(pc.upid, th.upid) = p.upid
-- table: slices
SELECT s.ts, s.dur, s.name, s.category, s.depth, tk.type AS track_type, tk.name AS track_name, th.tid, coalesce(pr.pid, pp.pid) AS pid
FROM slice s JOIN track tk ON s.track_id = tk.id LEFT JOIN thread_track tt ON s.track_id = tt.id LEFT JOIN thread th ON tt.utid = th.utid
LEFT JOIN process pr ON th.upid = pr.upid LEFT JOIN process_track pt ON s.track_id = pt.id LEFT JOIN process pp ON pt.upid = pp.upid
-- table: flows
SELECT a.ts AS out_ts, a.name AS out_name, b.ts AS in_ts, b.name AS in_name FROM flow f JOIN slice a ON f.slice_out = a.id JOIN slice b ON f.slice_in = b.id
-- table: frames
SELECT 'android_expected_frame_timeline' AS track_type, f.ts, f.dur, p.pid, f.name, f.layer_name, f.display_frame_token, f.surface_frame_token,
NULL AS jank_type, NULL AS on_time_finish, NULL AS present_type, NULL AS prediction_type, NULL AS gpu_composition, NULL AS jank_tag, NULL AS jank_severity_type
FROM expected_frame_timeline_slice f LEFT JOIN process p USING (upid)
UNION ALL SELECT 'android_actual_frame_timeline', f.ts, f.dur, p.pid, f.name, f.layer_name, f.display_frame_token, f.surface_frame_token,
f.jank_type, f.on_time_finish, f.present_type, f.prediction_type, f.gpu_composition, f.jank_tag, f.jank_severity_type
FROM actual_frame_timeline_slice f LEFT JOIN process p USING (upid)
-- table: logs
SELECT l.ts, l.prio, l.tag, l.msg, t.tid, p.pid FROM android_logs l LEFT JOIN thread t USING (utid) LEFT JOIN process p USING (upid)
-- table: binder
INCLUDE PERFETTO MODULE android.binder;
SELECT aidl_name, interface, method_name, client_process, client_pid, client_thread, client_tid, client_ts, client_dur,
server_process, server_pid, server_thread, server_tid, server_ts, server_dur, is_sync, is_main_thread, client_oom_score, server_oom_score
FROM android_binder_txns

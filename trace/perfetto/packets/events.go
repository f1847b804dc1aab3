package packets

// The kernel's events that are read: fields of FtraceEvent, in
// protos/perfetto/trace/ftrace/ftrace_event.proto of google/perfetto, with the file beside
// it that has their message.
const (
	EventPrint             = 3   // ftrace.proto
	EventSchedSwitch       = 4   // sched.proto
	EventCPUFrequency      = 11  // power.proto
	EventCPULimits         = 12  // power.proto
	EventCPUIdle           = 13  // power.proto
	EventClockEnable       = 14  // power.proto
	EventClockDisable      = 15  // power.proto
	EventClockRate         = 16  // power.proto
	EventSchedBlocked      = 18  // sched.proto
	EventSchedWaking       = 20  // sched.proto
	EventBinderTransaction = 50  // binder.proto
	EventBinderReceived    = 51  // binder.proto
	EventBinderLock        = 53  // binder.proto
	EventBinderLocked      = 54  // binder.proto
	EventBinderUnlock      = 55  // binder.proto
	EventSuspend           = 113 // power.proto
	EventNewTask           = 235 // task.proto
	EventRename            = 236 // task.proto
	EventExit              = 238 // sched.proto
	EventFree              = 240 // sched.proto
	EventRSS               = 313 // kmem.proto
	EventOOMScore          = 326 // oom.proto
	EventZero              = 331 // systrace.proto
	EventGPUFrequency      = 332 // power.proto
	EventSDE               = 333 // sde.proto
	EventDPU               = 348 // dpu.proto
	EventG2D               = 349 // g2d.proto
	EventMali              = 350 // mali.proto
	EventRSSThrottled      = 359 // synthetic.proto
	EventVblank            = 409 // drm.proto
	EventVblankDelivered   = 410 // drm.proto
	EventDRMJob            = 411 // gpu_scheduler.proto
	EventDRMRunJob         = 412 // gpu_scheduler.proto
	EventDRMProcessJob     = 413 // gpu_scheduler.proto
	EventFenceInit         = 414 // dma_fence.proto
	EventFenceEmit         = 415 // dma_fence.proto
	EventFenceSignaled     = 416 // dma_fence.proto
	EventFenceWaitStart    = 417 // dma_fence.proto
	EventFenceWaitEnd      = 418 // dma_fence.proto
	EventCPUUtil           = 421 // sched.proto
	EventSuspendMinimal    = 481 // power.proto
	EventDRMJobDone        = 592 // gpu_scheduler.proto
	EventDRMJobQueue       = 593 // gpu_scheduler.proto
	EventDRMJobRun         = 594 // gpu_scheduler.proto
)

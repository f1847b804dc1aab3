// Records an app's asynchronous tasks with Frida, by the methods that DiagDroid hooks (FSE 2016,
// section 5.2), each with the stack that scheduled it, the queue's identity, the pool's capacity
// and cancellations:
//
//     frida -U -f com.example.app -l frida.js -q -o tasks.jsonl
//     apkgate inspect tasks tasks.jsonl
//
// It needs a phone with frida-server (root), or a debuggable app with the gadget. Each task costs
// several calls from Java to JavaScript and a walk over the stack: its times are for finding
// queues, and no measurement. The lines are described in docs/tasks.md#frida.
'use strict';

// Limits on what is kept of tasks that have not ended, and on a stack.
const MAX_PENDING = 10000;
const MAX_FRAMES = 64;
const MAX_CAPACITY = 65536; // above it a pool is not limited

// install hooks the methods. Java is Frida's bridge, write takes a line.
function install(Java, write) {
  const System = Java.use('java.lang.System');
  const Thread = Java.use('java.lang.Thread');
  const Exception = Java.use('java.lang.Exception');
  const HandlerThread = Java.use('android.os.HandlerThread');
  const SystemClock = Java.use('android.os.SystemClock');

  let last = 0;
  let lost = 0;
  const pending = new Map(); // key of an object -> tasks that have not started, the oldest first
  const running = new Map(); // key of an object and a thread -> tasks that have
  const inside = new Map(); // thread -> the class of the AsyncTask that it schedules
  const growing = new Map(); // thread -> how many calls may start a worker
  const services = new Map(); // class of a service -> where it was started
  const overriding = new Set(); // classes of threads whose run is hooked

  const now = () => Number(System.nanoTime().toString());
  const hash = object => (System.identityHashCode(object) >>> 0).toString(16);
  const thread = () => Thread.currentThread();
  const threadKey = () => thread().getId().toString();
  const classOf = object => object.getClass().getName();
  const emit = line => write(JSON.stringify(line));

  const stack = () => {
    const out = [];
    const frames = Exception.$new().getStackTrace();
    for (let i = 0; i < frames.length && out.length < MAX_FRAMES; i++) {
      out.push(frames[i].toString());
    }
    return out;
  };

  // A hook that fails must not take the app with it.
  const guarded = (what, work) => {
    try {
      return work();
    } catch (e) {
      emit({ failed: what + ': ' + e });
    }
  };

  const add = (map, key, value) => {
    const list = map.get(key);
    if (list === undefined) {
      map.set(key, [value]);
    } else {
      list.push(value);
    }
    if (map.size > MAX_PENDING) {
      map.delete(map.keys().next().value);
      lost++;
      emit({ lost });
    }
  };
  const take = (map, key) => {
    const list = map.get(key);
    if (list === undefined) {
      return undefined;
    }
    const value = list.shift();
    if (list.length === 0) {
      map.delete(key);
    }
    return value;
  };

  const schedule = (key, task) => {
    const id = ++last;
    const line = { scheduled: now(), id, thread: thread().getName(), stack: stack() };
    emit(Object.assign(line, task));
    add(pending, key, id);
  };
  // start returns whether a task starts.
  const start = key => {
    const id = take(pending, key);
    if (id === undefined) {
      return false;
    }
    add(running, key + ' ' + threadKey(), id);
    emit({ started: now(), id, thread: thread().getName() });
    return true;
  };
  const done = key => {
    const id = take(running, key + ' ' + threadKey());
    if (id !== undefined) {
      emit({ done: now(), id });
    }
  };
  const cancel = key => {
    const id = take(pending, key);
    if (id !== undefined) {
      emit({ cancelled: now(), id });
      return;
    }
    for (const [place, ids] of running) {
      if (place.startsWith(key + ' ')) {
        emit({ cancelled: now(), id: ids[0] });
        return;
      }
    }
  };
  // around starts and ends the task of a method that does its work.
  const around = (what, key, work) => {
    const begins = guarded(what, () => start(key));
    try {
      return work();
    } finally {
      if (begins) {
        guarded(what, () => done(key));
      }
    }
  };
  const within = (map, value, work) => {
    const key = threadKey();
    const before = map.get(key);
    map.set(key, value);
    try {
      return work();
    } finally {
      if (before === undefined) {
        map.delete(key);
      } else {
        map.set(key, before);
      }
    }
  };

  // Handler and Looper: a message is a task of its queue. It is recycled when it was handled, and
  // when it was removed.
  const IntentService = 'IntentService[';
  const messageTask = (queue, message, when) => {
    const target = message.getTarget();
    const looper = target.getLooper();
    const name = looper.getThread().getName();
    const callback = message.getCallback();
    const kind = looper.equals(Java.use('android.os.Looper').getMainLooper()) ? 'main-thread'
      : name.startsWith(IntentService) ? 'intent-service' : 'handler-thread';
    const task = {
      unit: name, kind, queue: hash(queue), capacity: 1,
      name: callback !== null ? classOf(callback) : classOf(target) + ' ' + message.what.value,
    };
    const delay = Number(when.toString()) - Number(SystemClock.uptimeMillis().toString());
    if (delay > 0) {
      task.delay_ms = delay;
    }
    if (kind === 'intent-service' && message.obj.value !== null) {
      const intent = Java.cast(message.obj.value, Java.use('android.content.Intent'));
      const component = intent.getComponent();
      const from = component === null ? undefined : take(services, component.getClassName());
      if (from !== undefined) {
        Object.assign(task, from, { name: component.getClassName() });
      }
    }
    return task;
  };
  const MessageQueue = Java.use('android.os.MessageQueue');
  MessageQueue.enqueueMessage.implementation = function (message, when) {
    if (message.getTarget() !== null) {
      guarded('enqueueMessage', () => schedule('m' + hash(message), messageTask(this, message, when)));
    }
    return this.enqueueMessage(message, when);
  };
  const Handler = Java.use('android.os.Handler');
  Handler.dispatchMessage.implementation = function (message) {
    return around('dispatchMessage', 'm' + hash(message), () => this.dispatchMessage(message));
  };
  const Message = Java.use('android.os.Message');
  Message.recycleUnchecked.implementation = function () {
    guarded('recycleUnchecked', () => {
      const key = 'm' + hash(this);
      if (pending.has(key)) {
        cancel(key);
      }
    });
    return this.recycleUnchecked();
  };

  // A service's start is the scheduling of what its IntentService does.
  Java.use('android.app.ContextImpl').startService.implementation = function (intent) {
    guarded('startService', () => {
      const component = intent.getComponent();
      if (component !== null) {
        add(services, component.getClassName(), { scheduled: now(), thread: thread().getName(), stack: stack() });
      }
    });
    return this.startService(intent);
  };

  // ThreadPoolExecutor. One with a queue without a limit never has more workers than its core.
  const capacity = pool => {
    const most = pool.getQueue().remainingCapacity() + pool.getQueue().size() > MAX_CAPACITY ? pool.getCorePoolSize() : pool.getMaximumPoolSize();
    return most > MAX_CAPACITY ? 0 : most;
  };
  const ofSerial = runnable => classOf(runnable).startsWith('android.os.AsyncTask$SerialExecutor$');
  const poolKey = (pool, runnable) => 'p' + hash(pool) + '/' + hash(runnable);
  const poolOf = new Map(); // key of a FutureTask -> key of the task, to cancel it
  const ThreadPoolExecutor = Java.use('java.util.concurrent.ThreadPoolExecutor');
  ThreadPoolExecutor.execute.implementation = function (runnable) {
    return within(growing, 1, () => {
      if (runnable !== null && !ofSerial(runnable)) {
        guarded('execute', () => {
          const asyncTask = inside.get(threadKey());
          const key = poolKey(this, runnable);
          schedule(key, {
            unit: 'ThreadPoolExecutor@' + hash(this), kind: asyncTask === undefined ? 'thread-pool' : 'async-task', queue: hash(this),
            capacity: capacity(this), name: asyncTask === undefined ? classOf(runnable) : asyncTask,
          });
          poolOf.set(hash(runnable), key);
          if (poolOf.size > MAX_PENDING) {
            poolOf.delete(poolOf.keys().next().value);
          }
        });
      }
      return this.execute(runnable);
    });
  };
  ThreadPoolExecutor.beforeExecute.implementation = function (worker, runnable) {
    guarded('beforeExecute', () => start(poolKey(this, runnable)));
    return this.beforeExecute(worker, runnable);
  };
  ThreadPoolExecutor.afterExecute.implementation = function (runnable, thrown) {
    guarded('afterExecute', () => {
      done(poolKey(this, runnable));
      poolOf.delete(hash(runnable));
    });
    return this.afterExecute(runnable, thrown);
  };
  ThreadPoolExecutor.remove.implementation = function (runnable) {
    const removed = this.remove(runnable);
    if (removed) {
      guarded('remove', () => cancel(poolKey(this, runnable)));
    }
    return removed;
  };
  const FutureTask = Java.use('java.util.concurrent.FutureTask');
  FutureTask.cancel.implementation = function (interrupt) {
    const cancelled = this.cancel(interrupt);
    if (cancelled) {
      guarded('cancel', () => {
        const key = hash(this);
        cancel(poolOf.get(key) === undefined ? 's' + key : poolOf.get(key));
      });
    }
    return cancelled;
  };

  // AsyncTask: its serial executor is a queue of its own in front of a pool.
  Java.use('android.os.AsyncTask').executeOnExecutor.implementation = function (executor, params) {
    return within(inside, classOf(this), () => this.executeOnExecutor(executor, params));
  };
  Java.use('android.os.AsyncTask$SerialExecutor').execute.implementation = function (runnable) {
    guarded('SerialExecutor.execute', () => schedule('s' + hash(runnable), {
      unit: 'AsyncTask.SERIAL_EXECUTOR', kind: 'async-task', queue: hash(this), capacity: 1, name: inside.get(threadKey()) || classOf(runnable),
    }));
    return this.execute(runnable);
  };
  FutureTask.run.implementation = function () {
    return around('FutureTask.run', 's' + hash(this), () => this.run());
  };

  // Threads, but for loopers and workers. A class that overrides run is hooked when one of it
  // starts.
  const runs = function () {
    return around('Thread.run', 't' + hash(this), () => this.run());
  };
  const declaresRun = type => {
    const methods = type.getDeclaredMethods();
    for (let i = 0; i < methods.length; i++) {
      if (methods[i].getName() === 'run' && methods[i].getParameterTypes().length === 0) {
        return true;
      }
    }
    return false;
  };
  Thread.run.implementation = runs;
  overriding.add('java.lang.Thread');
  Thread.start.implementation = function () {
    if (!growing.has(threadKey()) && !HandlerThread.class.isInstance(this)) {
      guarded('Thread.start', () => {
        const name = classOf(this);
        if (!overriding.has(name)) {
          overriding.add(name);
          if (declaresRun(this.getClass())) {
            Java.use(name).run.overload().implementation = runs;
          }
        }
        schedule('t' + hash(this), { unit: 'Thread', kind: 'thread', capacity: 0, name });
      });
    }
    return this.start();
  };

  emit({ format: 'apkgate.tasks/1', clock: 'monotonic' });
}

if (typeof module !== 'undefined') {
  module.exports = { install };
} else {
  Java.perform(() => install(Java, line => console.log(line)));
}

// A stand-in for Frida's Java bridge, and an app whose threads take turns at given times. Usage:
// node standin.js PATH/frida.js. It prints what the script would print.
//
// As in Frida, assigning implementation replaces a method for all callers, and within the
// replacement a call of the same method on this is the original.
'use strict';

const types = new Map();
let clock = 0; // ms
let current = null; // the running thread
let hashes = 0;

function define(name, parent, methods = {}, statics = {}) {
  types.set(name, { name, parent: types.get(parent), methods, statics, replaced: {} });
}

function declaring(type, method) {
  for (; type !== undefined; type = type.parent) {
    if (Object.hasOwn(type.methods, method)) {
      return type;
    }
  }
  return undefined;
}

// make returns an object of a type, with fields.
function make(typeName, fields = {}) {
  const object = { type: types.get(typeName), hash: ++hashes, fields };
  const handle = original => new Proxy(object, {
    get(target, name) {
      if (name === '$object') {
        return object;
      }
      if (name === 'equals') {
        return other => other !== null && other.$object === object;
      }
      const at = declaring(target.type, name);
      if (at !== undefined) {
        const replaced = at.replaced[name];
        if (replaced !== undefined && original !== name) {
          return (...args) => replaced.apply(handle(name), args);
        }
        return (...args) => at.methods[name].apply(handle(), args);
      }
      if (name === 'getClass') {
        return () => classOf(object.type);
      }
      return target.fields[name];
    },
  });
  return handle();
}

function classOf(type) {
  return {
    getName: () => type.name,
    getDeclaredMethods: () => Object.keys(type.methods).map(name => ({ getName: () => name, getParameterTypes: () => [] })),
    isInstance: object => {
      for (let t = object.$object.type; t !== undefined; t = t.parent) {
        if (t === type) {
          return true;
        }
      }
      return false;
    },
  };
}

const Java = {
  use(name) {
    const type = types.get(name);
    if (type === undefined) {
      throw new Error('ClassNotFoundException: ' + name);
    }
    return new Proxy({}, {
      get(_, member) {
        if (member === 'class') {
          return classOf(type);
        }
        if (member === '$new') {
          return () => make(name);
        }
        if (Object.hasOwn(type.statics, member)) {
          return type.statics[member];
        }
        const at = declaring(type, member);
        const method = { overload: () => method, set implementation(f) { at.replaced[member] = f; } };
        return at === undefined ? undefined : method;
      },
    });
  },
  cast: object => object,
};

const constant = value => () => value;
define('java.lang.Object');
define('java.lang.System', undefined, {}, { nanoTime: () => BigInt(Math.round(clock * 1e6)), identityHashCode: object => object.$object.hash });
define('android.os.SystemClock', undefined, {}, { uptimeMillis: () => Math.floor(clock) });
define('java.lang.Exception', undefined, { getStackTrace: () => current.frames });
define('java.lang.Thread', undefined, {
  getName() { return this.name; }, getId() { return this.$object.hash; }, start() {}, run() { this.work(); },
}, { currentThread: () => current.thread });
define('android.os.HandlerThread', 'java.lang.Thread');
define('com.example.Download', 'java.lang.Thread', { run() { this.work(); } });
define('android.os.Looper', undefined, { getThread() { return this.thread; } }, { getMainLooper: () => loopers.main });
define('android.os.MessageQueue', undefined, { enqueueMessage: constant(true) });
define('android.os.Handler', undefined, { getLooper() { return this.looper; }, dispatchMessage(message) { message.work(); } });
define('com.example.Covers', 'android.os.Handler');
define('android.os.Message', undefined, { getTarget() { return this.target; }, getCallback() { return this.callback; }, recycleUnchecked() {} });
define('android.content.Intent', undefined, { getComponent() { return this.component; } });
define('android.app.ContextImpl', undefined, { startService: constant(null) });
define('java.util.concurrent.ThreadPoolExecutor', undefined, {
  execute() {}, beforeExecute() {}, afterExecute() {}, remove: constant(true),
  getQueue() { return { remainingCapacity: constant(this.room), size: constant(0) }; },
  getCorePoolSize() { return this.core; }, getMaximumPoolSize() { return this.maximum; },
});
define('java.util.concurrent.FutureTask', undefined, { run() { this.work(); }, cancel: constant(true) });
define('com.example.Icons$1');
define('android.os.AsyncTask$SerialExecutor$1');
define('android.os.AsyncTask', undefined, { executeOnExecutor(executor) { executor.execute(this.future); } });
define('de.jdsoft.law.data.UpdateLawList', 'android.os.AsyncTask');
define('android.os.AsyncTask$SerialExecutor', undefined, { execute() { pool.execute(make('android.os.AsyncTask$SerialExecutor$1')); } });

const threads = {};
for (const name of ['main', 'disk', 'pool-1-thread-1', 'AsyncTask #1', 'Thread-2', 'IntentService[Upload]']) {
  threads[name] = make('java.lang.Thread', { name });
}
const loopers = {};
for (const name of ['main', 'disk', 'IntentService[Upload]']) {
  loopers[name] = make('android.os.Looper', { thread: threads[name] });
}
const pool = make('java.util.concurrent.ThreadPoolExecutor', { core: 1, maximum: 20, room: 0 });

// on lets a thread work at a time, from a stack.
function on(name, ms, work, ...frames) {
  clock = ms;
  current = { thread: threads[name], frames };
  work();
}

const passes = ms => () => { clock = ms; };

function scenario() {
  const queue = make('android.os.MessageQueue');
  const message = (looper, fields) => make('android.os.Message', { target: make('com.example.Covers', { looper: loopers[looper] }), callback: null, what: { value: 7 }, obj: { value: null }, ...fields });

  const first = message('disk', { work: passes(9) });
  on('main', 1, () => queue.enqueueMessage(first, 1), 'android.os.MessageQueue.enqueueMessage(Native Method)', 'com.example.Main.onClick(Main.java:12)');
  on('disk', 3, () => first.target.dispatchMessage(first));
  on('disk', 9, () => first.recycleUnchecked());
  const removed = message('disk', {});
  on('main', 10, () => queue.enqueueMessage(removed, 510), 'com.example.Main.onStop(Main.java:20)');
  on('main', 12, () => removed.recycleUnchecked());
  on('main', 13, () => queue.enqueueMessage(message('disk', { target: null }), 13)); // a barrier

  const icons = make('java.util.concurrent.ThreadPoolExecutor', { core: 2, maximum: 4, room: 8 });
  const load = make('com.example.Icons$1');
  on('main', 20, () => icons.execute(load), 'com.example.Icons.load(Icons.java:3)');
  on('pool-1-thread-1', 21, () => icons.beforeExecute(threads.disk, load));
  on('pool-1-thread-1', 30, () => icons.afterExecute(load, null));
  const queued = make('java.util.concurrent.ThreadPoolExecutor', { core: 3, maximum: 2147483647, room: 2147483647 });
  const future = make('java.util.concurrent.FutureTask');
  on('main', 40, () => queued.execute(future), 'com.example.Query.ask(Query.java:5)');
  on('main', 42, () => future.cancel(true));

  const task = make('de.jdsoft.law.data.UpdateLawList', { future: make('java.util.concurrent.FutureTask', { work: passes(60) }) });
  on('main', 50, () => task.executeOnExecutor(make('android.os.AsyncTask$SerialExecutor'), []), 'android.os.AsyncTask.execute(AsyncTask.java:535)');
  on('AsyncTask #1', 55, () => task.future.run());

  const download = make('com.example.Download', { name: 'Thread-2', work: passes(80) });
  on('main', 70, () => download.start(), 'com.example.Main.fetch(Main.java:30)');
  on('Thread-2', 72, () => download.run());
  on('main', 85, () => make('android.os.HandlerThread', { name: 'new' }).start());

  const intent = make('android.content.Intent', { component: { getClassName: constant('com.example.Upload') } });
  on('main', 90, () => make('android.app.ContextImpl').startService(intent), 'com.example.Main.upload(Main.java:40)');
  const started = message('IntentService[Upload]', { obj: { value: intent }, work: passes(99) });
  on('main', 92, () => queue.enqueueMessage(started, 92), 'android.app.IntentService.onStart(IntentService.java:1)');
  on('IntentService[Upload]', 93, () => started.target.dispatchMessage(started));
}

on('main', 0, () => require(require('path').resolve(process.argv[2])).install(Java, line => console.log(line)));
scenario();

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.SystemClock;
import android.os.Trace;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Records the asynchronous tasks of executors and handlers in the system's trace, for apkgate
 * (docs/tasks.md, "Sections"). Copy this file into the app, with a package of its own, and wrap:
 *
 * <pre>
 * ExecutorService images = ApkgateTasks.wrap(Executors.newFixedThreadPool(4), "images", 4);
 * Handler disk = new ApkgateTasks.RecordedHandler(thread.getLooper());
 * </pre>
 *
 * It needs Android 10 (API 29), and a build that is profileable or debuggable. While nothing
 * traces, a task costs one test of a flag.
 */
public final class ApkgateTasks {
  /** Whether the line that schedules a task is recorded too, which walks the stack. */
  public static volatile boolean callers = true;

  private static final int LONGEST_SECTION = 127; // characters: Trace.beginSection throws above
  private static final int LONGEST = 300; // characters of an asynchronous section, cut in the kernel at 1,024 bytes

  private static final AtomicInteger cookies = new AtomicInteger();

  private ApkgateTasks() {}

  /** An executor that records the tasks of another, which runs at most capacity at a time. */
  public static Executor wrap(Executor executor, String unit, int capacity) {
    return task -> execute(executor, task, unit, capacity);
  }

  /** As the other, for services. Capacity is 0 for one without a limit. */
  public static ExecutorService wrap(ExecutorService service, String unit, int capacity) {
    return new AbstractExecutorService() {
      @Override
      public void execute(Runnable task) {
        ApkgateTasks.execute(service, task, unit, capacity);
      }

      @Override
      public void shutdown() {
        service.shutdown();
      }

      @Override
      public List<Runnable> shutdownNow() {
        return service.shutdownNow();
      }

      @Override
      public boolean isShutdown() {
        return service.isShutdown();
      }

      @Override
      public boolean isTerminated() {
        return service.isTerminated();
      }

      @Override
      public boolean awaitTermination(long timeout, TimeUnit of) throws InterruptedException {
        return service.awaitTermination(timeout, of);
      }
    };
  }

  private static void execute(Executor executor, Runnable task, String unit, int capacity) {
    Recorded recorded = record(task, unit, capacity, task.getClass().getName());
    if (recorded == null) {
      executor.execute(task);
      return;
    }
    try {
      executor.execute(recorded);
    } catch (RuntimeException rejected) {
      recorded.end();
      throw rejected;
    }
  }

  /** Returns a task that records itself and is scheduled now; null while nothing traces. */
  static Recorded record(Runnable task, String unit, int capacity, String name) {
    return Trace.isEnabled() ? new Recorded(task, unit, capacity, 0, name) : null;
  }

  /** A task that has been scheduled. */
  static final class Recorded implements Runnable {
    private final Runnable task;
    private final String name;
    private final String section;
    private final int cookie = cookies.incrementAndGet();

    Recorded(Runnable task, String unit, int capacity, long delayMs, String name) {
      this.task = task;
      this.name = plain(name);
      StringBuilder section = new StringBuilder("task:").append(plain(unit));
      if (capacity > 0) {
        section.append('/').append(capacity);
      }
      if (delayMs > 0) {
        section.append('+').append(delayMs);
      }
      section.append('>').append(this.name);
      String caller = callers ? caller() : "";
      if (!caller.isEmpty()) {
        section.append('@').append(caller);
      }
      this.section = cut(section.toString(), LONGEST);
      Trace.beginAsyncSection(this.section, cookie);
    }

    @Override
    public void run() {
      if (task instanceof Future && ((Future<?>) task).isCancelled()) {
        end();
        return;
      }
      begin();
      try {
        task.run();
      } finally {
        Trace.endSection();
        end();
      }
    }

    void begin() {
      Trace.beginSection(cut("task#" + cookie + " " + name, LONGEST_SECTION));
    }

    /** Ends the task. One that has not begun is cancelled by it. */
    void end() {
      Trace.endAsyncSection(section, cookie);
    }
  }

  /** A handler that records its messages. What is put at the front of the queue is not. */
  public static class RecordedHandler extends Handler {
    private final Map<Message, Recorded> waiting = new IdentityHashMap<>();

    public RecordedHandler(Looper looper) {
      super(looper);
    }

    @Override
    public boolean sendMessageAtTime(Message message, long uptimeMs) {
      Runnable callback = message.getCallback();
      String name = callback != null ? callback.getClass().getName() : getClass().getName() + " " + message.what;
      Recorded task = null;
      if (Trace.isEnabled()) {
        task = new Recorded(callback, getLooper().getThread().getName(), 1, uptimeMs - SystemClock.uptimeMillis(), name);
      }
      remember(message, task);
      boolean sent = super.sendMessageAtTime(message, uptimeMs);
      if (!sent) {
        remember(message, null);
      }
      return sent;
    }

    /** Ends the task that a message had before: it was removed from the queue and used again. */
    private void remember(Message message, Recorded task) {
      Recorded before;
      synchronized (waiting) {
        before = task == null ? waiting.remove(message) : waiting.put(message, task);
      }
      if (before != null) {
        before.end();
      }
    }

    @Override
    public void dispatchMessage(Message message) {
      Recorded task;
      synchronized (waiting) {
        task = waiting.remove(message);
      }
      if (task == null) {
        super.dispatchMessage(message);
        return;
      }
      task.begin();
      try {
        super.dispatchMessage(message);
      } finally {
        Trace.endSection();
        task.end();
      }
    }
  }

  /** The innermost frame that is neither the platform's nor of this file. */
  private static String caller() {
    for (StackTraceElement frame : new Throwable().getStackTrace()) {
      String in = frame.getClassName();
      if (!in.startsWith(ApkgateTasks.class.getName()) && !in.startsWith("java.") && !in.startsWith("android.")
          && !in.startsWith("androidx.") && !in.startsWith("kotlin.") && !in.startsWith("kotlinx.")) {
        return plain(frame.toString());
      }
    }
    return "";
  }

  /** Replaces the convention's own marks, and those of the kernel's trace. */
  private static String plain(String text) {
    return text.replace('>', ' ').replace('@', ' ').replace('|', ' ').replace('\n', ' ');
  }

  private static String cut(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most);
  }
}

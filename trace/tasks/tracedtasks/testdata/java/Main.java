import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import android.os.Trace;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;

/** An app whose threads take turns at given times. */
public final class Main {
  static final class Load implements Runnable {
    @Override
    public void run() {
      Trace.ms += 20;
    }
  }

  static void on(String thread, int tid, double ms) {
    Trace.thread = thread;
    Trace.tid = tid;
    Trace.ms = ms;
  }

  public static void main(String[] args) {
    on("com.example.app", 100, 1);
    Deque<Runnable> queue = new ArrayDeque<>();
    Executor images = ApkgateTasks.wrap((Executor) queue::add, "images>|", 2);
    images.execute(new Load());
    FutureTask<Void> cancelled = new FutureTask<>(new Load(), null);
    on("com.example.app", 100, 2);
    images.execute(cancelled);
    cancelled.cancel(true);
    on("pool-1-thread-1", 101, 5);
    queue.remove().run();
    queue.remove().run();

    on("com.example.app", 100, 30);
    try {
      ApkgateTasks.wrap((Executor) r -> { throw new RejectedExecutionException(); }, "full", 1).execute(new Load());
    } catch (RejectedExecutionException expected) {
      // as the app expects it
    }

    Handler disk = new ApkgateTasks.RecordedHandler(new Looper(new Thread("disk")));
    on("com.example.app", 100, 40);
    disk.postDelayed(new Load(), 500);
    Message reused = new Message();
    reused.what = 7;
    on("com.example.app", 100, 50);
    disk.sendMessageDelayed(reused, 0);
    disk.queue.removeLast(); // removeMessages, which recycles it
    on("com.example.app", 100, 60);
    disk.sendMessageDelayed(reused, 0);
    on("disk", 102, 70);
    disk.dispatchMessage(disk.queue.removeLast());
    on("disk", 102, 545);
    disk.dispatchMessage(disk.queue.remove());
  }
}

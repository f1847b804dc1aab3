package android.os;

import java.util.ArrayDeque;
import java.util.Deque;

/** A stand-in whose methods call each other as those of Handler.java do; its queue is handled by the test. */
public class Handler {
  public final Deque<Message> queue = new ArrayDeque<>();
  private final Looper looper;

  public Handler(Looper looper) {
    this.looper = looper;
  }

  public final Looper getLooper() {
    return looper;
  }

  public final boolean post(Runnable r) {
    return postDelayed(r, 0);
  }

  public final boolean postDelayed(Runnable r, long delayMs) {
    Message m = new Message();
    m.callback = r;
    return sendMessageDelayed(m, delayMs);
  }

  public final boolean sendMessageDelayed(Message m, long delayMs) {
    return sendMessageAtTime(m, SystemClock.uptimeMillis() + delayMs);
  }

  public boolean sendMessageAtTime(Message m, long uptimeMs) {
    return queue.add(m);
  }

  public void dispatchMessage(Message m) {
    if (m.callback != null) {
      m.callback.run();
    } else {
      handleMessage(m);
    }
  }

  public void handleMessage(Message m) {}
}

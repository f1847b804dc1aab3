package android.os;

/** A stand-in of a looper of a thread. */
public final class Looper {
  private final Thread thread;

  public Looper(Thread thread) {
    this.thread = thread;
  }

  public Thread getThread() {
    return thread;
  }
}

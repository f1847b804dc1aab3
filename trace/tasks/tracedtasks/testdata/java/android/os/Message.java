package android.os;

/** A stand-in of a message. */
public final class Message {
  public int what;
  Runnable callback;

  public Runnable getCallback() {
    return callback;
  }
}

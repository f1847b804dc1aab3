package android.os;

/** A stand-in with the time that the test sets. */
public final class SystemClock {
  public static long uptimeMillis() {
    return (long) Trace.ms;
  }
}

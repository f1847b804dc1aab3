package android.os;

/** A stand-in that prints lines as the kernel's trace has them, with a thread and a time that the test sets. */
public final class Trace {
  public static String thread = "main";
  public static int tid = 100;
  public static double ms;

  public static boolean isEnabled() {
    return true;
  }

  public static void beginAsyncSection(String name, int cookie) {
    line("S|100|" + name + "|" + cookie);
  }

  public static void endAsyncSection(String name, int cookie) {
    line("F|100|" + name + "|" + cookie);
  }

  public static void beginSection(String name) {
    if (name.length() > 127) {
      throw new IllegalArgumentException("sectionName is too long");
    }
    line("B|100|" + name);
  }

  public static void endSection() {
    line("E|100");
  }

  private static void line(String text) {
    System.out.printf("%16s-%-5d (  100) [001] .... %12.6f: tracing_mark_write: %s%n", thread, tid, ms / 1000, text);
  }
}

package setup

// kotlinEvents marks UI events in the log, in tests of the usual kinds: docs/collection/events.md.
const kotlinEvents = `import android.util.Log
import androidx.compose.ui.test.junit4.ComposeTestRule
import androidx.test.espresso.Espresso
import androidx.test.espresso.ViewAction
import androidx.test.espresso.ViewInteraction
import androidx.test.uiautomator.UiDevice
import java.util.concurrent.atomic.AtomicInteger

private val events = AtomicInteger()
fun uiEvent(name: String) { Log.i("apkgate", "$name n=${events.incrementAndGet()}") }

// Espresso: onView(withId(R.id.inbox)).perform("scroll", swipeUp())
fun ViewInteraction.perform(name: String, vararg actions: ViewAction): ViewInteraction { Espresso.onIdle(); uiEvent(name); return perform(*actions) }

// Compose: composeTestRule.before("scroll").onNodeWithTag("inbox").performTouchInput { swipeUp() }
fun <R : ComposeTestRule> R.before(name: String): R { waitForIdle(); uiEvent(name); return this }

// UiAutomator, once the object is found: device.before("scroll"); inbox.scroll(Direction.DOWN, 1f)
fun UiDevice.before(name: String) { waitForIdle(); uiEvent(name) }
`

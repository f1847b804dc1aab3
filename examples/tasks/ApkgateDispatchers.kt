import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Runnable

/**
 * Records what a dispatcher runs as ApkgateTasks does, which has to be beside this file: from each
 * launch or resumption of a coroutine until it is suspended again.
 *
 *     val database = Dispatchers.IO.limitedParallelism(1).recorded("database", 1)
 *
 * A capacity of 0 stands for no limit. A task is called as its coroutine (CoroutineName).
 */
fun CoroutineDispatcher.recorded(unit: String, capacity: Int): CoroutineDispatcher =
    RecordedDispatcher(this, unit, capacity)

private class RecordedDispatcher(
    private val dispatcher: CoroutineDispatcher,
    private val unit: String,
    private val capacity: Int
) : CoroutineDispatcher() {
    override fun isDispatchNeeded(context: CoroutineContext): Boolean = dispatcher.isDispatchNeeded(context)

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        val name = context[CoroutineName]?.name ?: block.javaClass.name
        dispatcher.dispatch(context, ApkgateTasks.record(block, unit, capacity, name) ?: block)
    }
}

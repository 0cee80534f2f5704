// The inside of a thread: one task at a time, and after the event loop of its process where the system knows of threads' priorities.
import { constants, getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** Linux takes it from this thread alone; elsewhere it would be taken from the whole process. */
const LOWER_BY = 5

/** Answers each task with what `handle` returns. What it throws ends the thread, and with it the task. */
export function serveTasks<Task, Result>(handle: (task: Task) => Result): void {
  const { PRIORITY_LOW } = constants.priority
  if (process.platform === 'linux') setPriority(Math.min(PRIORITY_LOW, getPriority() + LOWER_BY))
  parentPort?.on('message', (task: Task) => parentPort?.postMessage(handle(task)))
  parentPort?.postMessage('ready')
}

// A server that is there and does not answer: it and its children are stopped, as by a debugger or a frozen container.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Pauses the process and its children; the function that is returned lets those go on that still live. */
export async function pauseTree(pid: number): Promise<() => void> {
  // The parent first: a paused one makes no more children.
  process.kill(pid, 'SIGSTOP')
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid='])
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const children = rows.flatMap(([child, parent]) => (parent === pid && child ? [child] : []))
  signal(children, 'SIGSTOP')
  return () => signal([...children, pid], 'SIGCONT')
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

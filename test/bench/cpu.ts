// CPU seconds of whole process trees, from /proc: what one handoff costs each process.
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

interface Stat {
  readonly parent: number
  readonly seconds: number
}

function readStat(pid: number): Stat | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    // utime, stime and those of children that ended, which is how Postgres' past backends count.
    const ticks = [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0)
    return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND }
  } catch {
    return undefined
  }
}

/** CPU seconds used so far by `root` and everything below it; 0 where /proc does not exist. */
export function cpuSecondsOf(root: number): number {
  const stats = new Map<number, Stat>()
  for (const name of safeList('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
    if (stat !== undefined) stats.set(Number(name), stat)
  }
  let total = 0
  for (const [pid, stat] of stats) if (isBelow(pid, root, stats)) total += stat.seconds
  return total
}

function isBelow(pid: number, root: number, stats: ReadonlyMap<number, Stat>): boolean {
  for (let at = pid; at > 1; at = stats.get(at)?.parent ?? 0) if (at === root) return true
  return false
}

function safeList(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

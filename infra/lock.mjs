// One holder at a time across processes, by a lock file that names its holder; a dead holder's lock is taken over.
// Node built-ins only: infra/boot.mjs uses it before anything is installed.
import { randomUUID } from 'node:crypto'
import {
  linkSync,
  mkdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 50
const TAKEOVER_MAX_MS = 10_000

/**
 * True while the process lives; a zombie counts as dead. `startedAt` guards against another process having got the same id;
 * it is only known on Linux and only compared when both sides know it.
 * @param {{ pid: number, startedAt: string | null }} holder
 */
export function isAlive(holder) {
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  const { state, startedAt } = readProcess(holder.pid)
  if (state === 'Z') return false
  return startedAt === null || holder.startedAt === null || startedAt === holder.startedAt
}

/** The identity of a process, as written to lock files and instance records. */
export function holderOf(pid = process.pid) {
  return { pid, startedAt: readProcess(pid).startedAt }
}

/**
 * Runs `action` while holding the lock at `path`. Waits for a live holder at most `waitMs`, then throws an
 * Error whose code is BATON_LOCK_BUSY; `onWait` is called once when it has to wait.
 */
export async function withLock(path, options, action) {
  await acquire(path, options)
  try {
    return await action()
  } finally {
    unlinkSync(path)
  }
}

async function acquire(path, { waitMs, onWait }) {
  const deadline = performance.now() + waitMs
  for (let waited = false; !tryAcquire(path); waited = true) {
    const holder = readHolder(path)
    if (holder !== null && !isAlive(holder)) removeDeadLock(path)
    else {
      if (performance.now() > deadline) throw busy(path, holder)
      if (!waited) onWait?.(holder)
      await delay(POLL_MS)
    }
  }
}

/** The lock appears with its content in one step (link), so a reader never sees a half-written holder. */
function tryAcquire(path) {
  const draft = `${path}.${process.pid}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify(holderOf()), { mode: 0o644 })
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(draft)
  }
}

/** Only one process at a time may judge a lock dead, so nobody removes a lock that was just renewed. */
function removeDeadLock(path) {
  const guard = `${path}.takeover`
  try {
    mkdirSync(guard)
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    removeAbandoned(guard)
    return
  }
  try {
    const holder = readHolder(path)
    if (holder !== null && !isAlive(holder)) unlinkSync(path)
  } finally {
    rmdirSync(guard)
  }
}

function removeAbandoned(guard) {
  try {
    if (Date.now() - statSync(guard).mtimeMs > TAKEOVER_MAX_MS) rmdirSync(guard)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

function readHolder(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

function readProcess(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? null, startedAt: fields[19] ?? null }
  } catch {
    return { state: null, startedAt: null }
  }
}

function busy(path, holder) {
  const message = `another Baton command (process ${holder?.pid ?? 'unknown'}) holds ${path}; wait for it or end it, then try again`
  return Object.assign(new Error(message), { code: 'BATON_LOCK_BUSY' })
}

// A server process shared by every Baton command of a checkout: the first starts it, later ones adopt it,
// and the last one to leave stops it. A command that was killed does not count as a user any more.
//
// Nobody ends a server that a living process uses, whatever the server does. Who uses it is read, judged and
// acted upon under one lock, which every user held when it was entered in the record.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { permanent, replaceFile, transient } from '@baton/runtime'
import { holderOf, isAlive, withLock } from '@baton/infra/lock'
import { machineTrouble } from '@baton/infra/machine-trouble'
import type { Holder } from '@baton/infra/lock'
import { commandLine, settles } from './server-process.ts'

const LOCK_WAIT_MS = 240_000
/** How long a server may not answer until a command gives up, when somebody uses it, or ends it, when nobody does. */
const WAITS = { usedMs: 20_000, unusedMs: 10_000 }
const LOOK_EVERY_MS = 200
const COMMAND_SHOWN_MAX = 80
/** Commands that only pass each other say nothing; looking at a server that does not answer takes two seconds. */
const TELL_AFTER_MS = 3_000

/** A server process, told from a later one that was given the same id. */
export interface ServerProcess extends Holder {
  readonly port: number
}

/** How one kind of server is recognised, started and stopped. Called with the instance lock held. */
export interface Engine<Details extends ServerProcess> {
  /** What people call it. */
  readonly title: string
  /** Asks it to end as `stop` does; without one, a process that ends here and now leaves it running. */
  readonly stopSignal?: NodeJS.Signals
  /** Where it writes what goes wrong. */
  logOf(details: Details): string
  /** The server process that is there now, answering or not; `previous` is what the record says. */
  find(previous: Details | null): Promise<Details | null>
  /** True when the server answers now. */
  answers(details: Details): Promise<boolean>
  /** Starts one where none is. */
  start(previous: Details | null): Promise<Details>
  /** Ends one that answers. Nothing that it acknowledged is lost. */
  stop(details: Details): Promise<void>
  /** Ends one that does not answer: asked first, then made to. */
  abort(details: Details): Promise<void>
}

export interface Membership<Details> {
  /** Of the process that runs now. */
  readonly details: Details
  readonly source: 'started' | 'adopted'
  /** Starts the server again where it has died. Throws BATON_PORT_TAKEN where it would be elsewhere than its users look. */
  revive(): Promise<Details>
  /** Stops the server when nobody else uses it. Safe to call twice. */
  leave(): Promise<void>
}

interface JoinOptions {
  /** Told, in words for a person, what is waited for and what was ended. */
  readonly tell?: ((words: string) => void) | undefined
  readonly waits?: typeof WAITS
}

interface User extends Holder {
  readonly token: string
}

interface InstanceRecord<Details> {
  readonly details: Details
  readonly users: readonly User[]
}

/** A server that does not answer, and one of the living processes that use it. */
interface Silent<Details> {
  readonly silent: Details
  readonly holder: Holder
}

/**
 * Joins the instance recorded at `recordPath`, starting it when no server is there. One that does not answer
 * is waited for while a living process uses it, then BATON_SERVER_SILENT is thrown and everything is as it was;
 * one that nobody uses any more is ended and started again.
 */
export async function joinInstance<Details extends ServerProcess>(
  recordPath: string,
  engine: Engine<Details>,
  { tell = () => undefined, waits = WAITS }: JoinOptions = {},
): Promise<Membership<Details>> {
  await mkdir(dirname(recordPath), { recursive: true })
  const deadline = performance.now() + waits.usedMs
  for (let told = false; ; told = true) {
    const outcome = await underLock(recordPath, { engine, tell }, () =>
      tryJoin(recordPath, engine, { tell, unusedMs: waits.unusedMs }),
    )
    if ('leave' in outcome) return outcome
    const state = await describeSilence(engine, outcome)
    // Nobody is refused who was not told before for what is waited.
    if (told && performance.now() > deadline)
      throw silence(engine, outcome, { state, waitMs: waits.usedMs })
    if (!told) tell(`Waits for ${state}. Gives up after ${waits.usedMs / 1000} s and ends nothing.`)
    // Without the lock: whoever uses the server can leave it meanwhile.
    await delay(LOOK_EVERY_MS)
  }
}

interface OnUnused {
  readonly tell: (words: string) => void
  readonly unusedMs: number
}

async function tryJoin<Details extends ServerProcess>(
  recordPath: string,
  engine: Engine<Details>,
  unused: OnUnused,
): Promise<Membership<Details> | Silent<Details>> {
  const { tell } = unused
  const record = await readInstanceRecord<Details>(recordPath)
  const others = (record?.users ?? []).filter((other) => isAlive(other))
  let running = await engine.find(record?.details ?? null)
  if (running !== null && !(await engine.answers(running))) {
    const [holder] = others
    if (holder !== undefined) return { silent: running, holder }
    running = await adoptOrEnd(running, engine, unused)
  }
  if (running !== null && others.length === 0 && (record?.users.length ?? 0) > 0)
    tell(`Takes over ${engine.title} (process ${running.pid}), left by a command that was killed.`)
  const details = running ?? (await engine.start(record?.details ?? null))
  const user: User = { ...holderOf(), token: randomUUID() }
  await writeRecord(recordPath, { details, users: [...others, user] })
  return membershipOf(recordPath, engine, {
    details,
    user,
    source: running === null ? 'started' : 'adopted',
  })
}

function membershipOf<Details extends ServerProcess>(
  recordPath: string,
  engine: Engine<Details>,
  joined: Pick<Membership<Details>, 'details' | 'source'> & { readonly user: User },
): Membership<Details> {
  const { user, source } = joined
  const { stopSignal } = engine
  let { details } = joined
  const leaveNow = () => stopSignal && signalUnused<Details>(recordPath, user, stopSignal)
  leavingNow.add(leaveNow)
  return {
    get details() {
      return details
    },
    source,
    async revive() {
      details = await reviveInstance(recordPath, engine, details)
      return details
    },
    async leave() {
      await leaveInstance(recordPath, engine, user)
      leavingNow.delete(leaveNow)
    },
  }
}

/** Whatever ends this process, it leaves its servers; only SIGKILL leaves them to the next command. */
const leavingNow = new Set<() => void>()
process.once('exit', () => leavingNow.forEach((leave) => leave()))

/** Without the lock, which somebody else may hold for long: who joins at this very moment finds the server ending, and starts it again. */
function signalUnused<Details extends ServerProcess>(
  recordPath: string,
  user: User,
  signal: NodeJS.Signals,
): void {
  try {
    const { details, users } = JSON.parse(
      readFileSync(recordPath, 'utf8'),
    ) as InstanceRecord<Details>
    const others = users.filter(({ token }) => token !== user.token)
    const isOwn = others.length < users.length
    if (isOwn && isAlive(details) && !others.some((other) => isAlive(other)))
      process.kill(details.pid, signal)
  } catch {
    // Nothing more can be done in a process that ends: the next command finds what is left.
  }
}

async function reviveInstance<Details extends ServerProcess>(
  recordPath: string,
  engine: Engine<Details>,
  before: Details,
): Promise<Details> {
  return underLock(recordPath, { engine }, async () => {
    const record = await readInstanceRecord<Details>(recordPath)
    const running = await engine.find(before)
    const details = running ?? (await engine.start(before))
    if (details.port !== before.port) {
      if (running === null) await engine.stop(details)
      throw portTaken(engine.title, before.port)
    }
    const users = (record?.users ?? []).filter((user) => isAlive(user))
    await writeRecord(recordPath, { details, users })
    return details
  })
}

/** What a killed command left behind is used once it answers, and ended when it does not. */
async function adoptOrEnd<Details extends ServerProcess>(
  leftover: Details,
  engine: Engine<Details>,
  { tell, unusedMs }: OnUnused,
): Promise<Details | null> {
  const which = `${engine.title} (process ${leftover.pid})`
  tell(
    `Waits for ${which}: it does not answer, and no process that used it lives. It is ended after ${unusedMs / 1000} s.`,
  )
  if (await settles(() => engine.answers(leftover), unusedMs)) return leftover
  await engine.abort(leftover)
  tell(`Ended ${which}, a leftover that did not answer, and starts it again.`)
  return null
}

/** Stops and forgets the instance recorded at `recordPath`, unless a living command uses it. */
export async function discardInstance<Details extends ServerProcess>(
  recordPath: string,
  engine: Pick<Engine<Details>, 'title' | 'stop'>,
): Promise<void> {
  await underLock(recordPath, { engine }, async () => {
    const record = await readInstanceRecord<Details>(recordPath)
    if (record === null || record.users.some((user) => isAlive(user))) return
    await engine.stop(record.details)
    await rm(recordPath)
  })
}

async function leaveInstance<Details extends ServerProcess>(
  recordPath: string,
  engine: Engine<Details>,
  user: User,
): Promise<void> {
  const leave = async () => {
    const record = await readInstanceRecord<Details>(recordPath)
    if (record === null || !record.users.some(({ token }) => token === user.token)) return
    const others = record.users.filter((other) => other.token !== user.token && isAlive(other))
    if (others.length === 0) await engine.stop(record.details)
    await writeRecord(recordPath, { details: record.details, users: others })
  }
  try {
    await underLock(recordPath, { engine }, leave)
  } catch (error) {
    // Where the lock cannot be written nobody can join either; a user who has left counts as dead once its process has ended.
    if (machineTrouble(error) === undefined) throw error
    await leave().catch((again: unknown) => {
      if (machineTrouble(again) === undefined) throw again
    })
  }
}

async function underLock<Result>(
  recordPath: string,
  {
    engine,
    tell,
  }: { readonly engine: { readonly title: string }; readonly tell?: (words: string) => void },
  action: () => Promise<Result>,
): Promise<Result> {
  let telling: NodeJS.Timeout | undefined
  const onWait = (holder: Holder | null) => {
    const words = `Waits for process ${holder?.pid ?? 'unknown'}, which is starting or stopping ${engine.title}, for at most ${LOCK_WAIT_MS / 1000} s.`
    telling = setTimeout(() => tell?.(words), TELL_AFTER_MS)
  }
  return await withLock(`${recordPath}.lock`, { waitMs: LOCK_WAIT_MS, onWait }, () => {
    clearTimeout(telling)
    return action()
  }).finally(() => clearTimeout(telling))
}

async function describeSilence<Details extends ServerProcess>(
  { title }: Engine<Details>,
  { silent, holder }: Silent<Details>,
): Promise<string> {
  // The folders of programs and files say nothing here, and hide the word that does: `node main.ts up`.
  const words = (await commandLine(holder.pid)).replaceAll(/\S*\//g, '').split(/\s+/)
  const command = words.join(' ').trim().slice(0, COMMAND_SHOWN_MAX)
  const user = `process ${holder.pid}${command === '' ? '' : ` (${command})`}`
  return `${title}: process ${silent.pid} on port ${silent.port} does not answer; ${user} uses it`
}

function silence<Details extends ServerProcess>(
  { logOf }: Engine<Details>,
  { silent, holder }: Silent<Details>,
  { state, waitMs }: { readonly state: string; readonly waitMs: number },
) {
  return transient('BATON_SERVER_SILENT', `${state}; waited ${waitMs / 1000} s`, {
    fix:
      `Nothing was ended. \`ps -o stat= -p ${silent.pid}\` says T when it is paused: \`kill -CONT ${silent.pid}\` and its children. ` +
      `Otherwise read ${logOf(silent)}, or end process ${holder.pid}, then try again.`,
  })
}

const portTaken = (title: string, port: number) =>
  transient(
    'BATON_PORT_TAKEN',
    `${title} cannot start again: another program has its port ${port}`,
    {
      fix: `End the program that listens on port ${port}, or stop this command and run it again.`,
    },
  )

/** Null where there is none, or what a crash of the machine left of one. A record that is there but cannot be read is not taken for none: it may name users. */
export async function readInstanceRecord<Details>(
  recordPath: string,
): Promise<InstanceRecord<Details> | null> {
  const text = await readFile(recordPath, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return ''
    throw permanent('BATON_INSTANCE_UNREADABLE', `${recordPath} cannot be read`, {
      cause,
      fix: 'Make it readable: it names the processes that use the server.',
    })
  })
  try {
    return JSON.parse(text) as InstanceRecord<Details>
  } catch {
    return null
  }
}

async function writeRecord<Details>(recordPath: string, record: InstanceRecord<Details>) {
  await replaceFile(recordPath, `${JSON.stringify(record, null, 2)}\n`)
}

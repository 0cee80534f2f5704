// Which processes serve an instance now, so that a second command uses them instead of starting its own.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '@baton/runtime'
import { holderOf, isAlive } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'
import { endProcess, settles } from './server-process.ts'
import type { EndStep } from './server-process.ts'
import type { Seen } from './supervise.ts'

interface Running {
  /** The command that started the services and will stop them. */
  readonly owner: Holder
  /** The services are being stopped: nobody is to begin to use them. */
  readonly isStopping?: boolean
  readonly services: readonly (Holder & Seen)[]
}

/** What a command says of the services it has started, and who they are. */
export type InstanceRecord<Details> = Details & Running

const pathOf = (home: string): string => join(home, 'instance.json')

/** The record of a command that still runs, or null. */
export async function runningInstance<Details>(
  home: string,
): Promise<InstanceRecord<Details> | null> {
  const record = await read<Details>(home)
  return record !== null && record.isStopping !== true && isAlive(record.owner) ? record : null
}

interface OwnerWatch {
  /** Resolves with the id of the command that served the instance, once it has ended. */
  readonly gone: Promise<number>
  close(): void
}

const LOOK_EVERY_MS = 500

/** Watches the other command whose services are used. */
export function watchOwner({ owner }: Running): OwnerWatch {
  let timer: NodeJS.Timeout | undefined
  const gone = new Promise<number>((resolve) => {
    timer = setInterval(() => {
      if (isAlive(owner)) return
      clearInterval(timer)
      resolve(owner.pid)
    }, LOOK_EVERY_MS)
  })
  return { gone, close: () => clearInterval(timer) }
}

/** Resolves when no command is stopping its services here any more, or `waitMs` have passed. */
export async function untilStopped(
  home: string,
  { waitMs, onWait }: { readonly waitMs: number; readonly onWait: (pid: number) => void },
): Promise<void> {
  let isTold = false
  await settles(async () => {
    const record = await read(home)
    if (record?.isStopping !== true || !isAlive(record.owner)) return true
    if (!isTold) onWait(record.owner.pid)
    isTold = true
    return false
  }, waitMs)
}

/** Services that go on although the command that started them was killed. */
export async function listLeftovers(home: string): Promise<Running['services']> {
  const record = await read(home)
  if (record === null || isAlive(record.owner)) return []
  return record.services.filter((service) => isAlive(service))
}

/** A paused one hears nothing else; each drains for a moment, and loses nothing where that is too short. */
const END: readonly EndStep[] = [
  { signal: 'SIGCONT', waitMs: 0 },
  { signal: 'SIGTERM', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
]

/** Ends services whose command was killed: they would go on with old settings. Answers which, and the command. */
export async function endLeftovers(
  home: string,
): Promise<{ readonly ended: readonly string[]; readonly owner: number | undefined }> {
  const leftover = await listLeftovers(home)
  const owner = (await read(home))?.owner.pid
  await Promise.all(leftover.map((service) => endProcess(service, END)))
  if (leftover.length > 0) await rm(pathOf(home), { force: true })
  return { ended: leftover.map(({ name, pid }) => `${name} ${pid}`), owner }
}

/** Says that this process serves the instance, with which services. */
export async function writeInstance<Details extends object>(
  home: string,
  seen: readonly Seen[],
  details: Details & Pick<Running, 'isStopping'>,
): Promise<void> {
  const services = seen.map((one) => ({ ...one, ...holderOf(one.pid) }))
  const record: InstanceRecord<Details> = { ...details, owner: holderOf(), services }
  await replaceFile(pathOf(home), `${JSON.stringify(record, null, 2)}\n`)
}

/** Called when the services are stopped. */
export async function forgetInstance(home: string): Promise<void> {
  await rm(pathOf(home), { force: true })
}

async function read<Details>(home: string): Promise<InstanceRecord<Details> | null> {
  try {
    return JSON.parse(await readFile(pathOf(home), 'utf8')) as InstanceRecord<Details>
  } catch {
    return null
  }
}

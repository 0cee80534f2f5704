// Which processes serve an instance now, so that a second command uses them instead of starting its own.
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile, transient } from '@baton/runtime'
import { holderOf, isAlive } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'

interface Running {
  /** The command that started the services and will stop them. */
  readonly owner: Holder
  readonly services: readonly (Holder & { readonly name: string })[]
}

/** What a command says of the services it has started, and who they are. */
export type InstanceRecord<Details> = Details & Running

const pathOf = (home: string): string => join(home, 'instance.json')

/** The record of a command that still runs, or null. */
export async function runningInstance<Details>(
  home: string,
): Promise<InstanceRecord<Details> | null> {
  const record = await read<Details>(home)
  return record !== null && isAlive(record.owner) ? record : null
}

interface OwnerWatch {
  /** Rejects with BATON_SERVICE_ENDED when the command that serves the instance has ended. */
  readonly gone: Promise<never>
  close(): void
}

const LOOK_EVERY_MS = 1_000

/** Watches the other command whose services are used. */
export function watchOwner(home: string, { owner }: Running): OwnerWatch {
  let timer: NodeJS.Timeout | undefined
  const gone = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      void runningInstance(home).then((running) => {
        if (running?.owner.pid !== owner.pid) reject(ownerEnded(owner.pid))
      })
    }, LOOK_EVERY_MS)
  })
  gone.catch(() => undefined)
  return { gone, close: () => clearInterval(timer) }
}

const ownerEnded = (pid: number) =>
  transient('BATON_SERVICE_ENDED', `process ${pid}, whose services this command used, has ended`, {
    fix: 'Run the command again: nothing that was acknowledged is lost.',
  })

/** Services that go on although the command that started them was killed. */
export async function listLeftovers(home: string): Promise<Running['services']> {
  const record = await read(home)
  if (record === null || isAlive(record.owner)) return []
  return record.services.filter((service) => isAlive(service))
}

/** Ends services whose command was killed: they would go on with old settings. */
export async function endLeftovers(home: string): Promise<readonly string[]> {
  const record = await read(home)
  if (record === null || isAlive(record.owner)) return []
  const leftover = record.services.filter((service) => isAlive(service))
  for (const { pid } of leftover) process.kill(pid, 'SIGKILL')
  await rm(pathOf(home), { force: true })
  return leftover.map(({ name }) => name)
}

/** Says that this process serves the instance, with which services. */
export async function writeInstance<Details extends object>(
  home: string,
  children: readonly { readonly name: string; readonly pid: number }[],
  details: Details,
): Promise<void> {
  const services = children.map(({ name, pid }) => ({ name, ...holderOf(pid) }))
  const record: InstanceRecord<Details> = { ...details, owner: holderOf(), services }
  await replaceFile(pathOf(home), `${JSON.stringify(record, null, 2)}\n`)
}

/** Called before the services are stopped: nobody is to begin to use them. */
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

// Who steals: each with exactly what one process, one key or one role of a running instance holds, read where it really stands.
import { readFile } from 'node:fs/promises'
import { SCOPES } from '@baton/gateway'
import { SENDER_SETTINGS } from '@baton/sender/settings'
import { sortLoot } from './loot.ts'
import type { Environment, Loot } from './loot.ts'
import type { Scene } from './scene.ts'

export interface Thief {
  readonly name: string
  readonly loot: Loot
}

/** The environment that a process was started with, as the kernel keeps it. */
async function environmentOf(pid: number): Promise<Environment> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8')
  const lines = text.split('\0').filter((line) => line.includes('='))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

/** Of some settings, those that another process was given too. */
const within = (given: Environment, spec: object): Environment =>
  Object.fromEntries(Object.entries(given).filter(([name]) => name in spec))

export async function findThieves(scene: Scene): Promise<readonly Thief[]> {
  const { pids, secrets } = scene
  const environments = new Map(
    await Promise.all(
      [...pids].map(async ([name, pid]) => [name, await environmentOf(pid)] as const),
    ),
  )
  const [auditor = {}, receiver = {}] = ['auditor', 'receiver'].map((name) =>
    environments.get(name),
  )
  const known = new Set(
    Object.entries(auditor).flatMap(([name, value = '']) =>
      name.endsWith('_TOKEN') ? [value] : [],
    ),
  )
  const thief = (name: string, environment: Environment): Thief => ({
    name,
    loot: sortLoot(environment, known),
  })
  const keyed = async (scopes: string): Promise<Thief> =>
    thief(`an API key for \`${scopes}\``, {
      BATON_API_KEY: await scene.keyOf(scopes, { agents: ['intake'] }),
    })
  return [
    thief('a sender', within(receiver, SENDER_SETTINGS)),
    ...[...environments].map(([name, environment]) => thief(`the ${name}`, environment)),
    thief('the role `audit_reader`', { BATON_AUDIT_READER_URL: auditor['BATON_AUDIT_READER_URL'] }),
    thief('a command line at a gateway', {
      BATON_API_KEY: secrets['people']?.['operator'],
      BATON_AUDIT_HOLD_TOKEN: secrets['archive']?.['holdToken'],
      BATON_AUDIT_EVIDENCE_TOKEN: secrets['evidence']?.['evidenceToken'],
      BATON_AUDIT_PAYLOAD_TOKEN: secrets['evidence']?.['payloadToken'],
    }),
    ...(await Promise.all(SCOPES.map(keyed))),
  ]
}

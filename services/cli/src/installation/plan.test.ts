// What `init` is told becomes one plan, or one refusal that names the option and how to write it.
import { generateKeyPairSync } from 'node:crypto'
import { personEntry, readDecisionSigner } from '@baton/ledger'
import { describe, expect, it } from 'vitest'
import { makePlan } from './plan.ts'
import type { InitFlags } from './plan.ts'

const FLAGS: InitFlags = {
  database: 'postgres://postgres:secret@db.example:5432/postgres',
  environment: 'production',
  host: [],
  firstPort: 8_420,
  clientCertificates: false,
  person: [],
  tenant: [],
}
const plan = (flags: Partial<InitFlags>) => makePlan('/etc/baton', { ...FLAGS, ...flags })

describe('the plan of an installation', () => {
  it('is one machine in plain text without Redis, and two people who decide, where nothing else is said', () => {
    const { processes, isTls, people, files, cold } = plan({})
    expect(processes).not.toContain('relay')
    expect(isTls).toBe(false)
    expect(people.map(({ name, entry }) => [name, entry])).toEqual([
      ['reviewer-1', undefined],
      ['reviewer-2', undefined],
    ])
    expect(files.anchor).toBe('/etc/baton/state/anchor/anchor.jsonl')
    expect(cold).toEqual({ folder: '/etc/baton/state/cold' })
  })

  it('is TLS as soon as a process is reached from elsewhere, unless the network encrypts', () => {
    expect(plan({ host: ['gateway=baton.example.com'] }).isTls).toBe(true)
    expect(plan({ host: ['10.0.0.5'], plaintext: true }).isTls).toBe(false)
    expect(() => plan({ host: ['10.0.0.5'], tls: false })).toThrow(/no TLS between them/)
  })

  it('has no witness of its own where others run one', () => {
    const witness = 'witness.example+0123abcd+AbcD= https://witness.example'
    expect(plan({ witness }).processes).not.toContain('witness')
    expect(plan({ witness }).otherWitness?.url).toBe('https://witness.example')
  })

  it('takes a person with the key that they made', () => {
    const pkcs8 = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })
    const { publicKey } = readDecisionSigner(pkcs8.toString('base64'))
    const entry = personEntry('ann', ['reviewer'], publicKey)
    expect(plan({ person: [entry] }).people).toEqual([{ name: 'ann', roles: ['reviewer'], entry }])
  })

  it.each<[string, Partial<InitFlags>, RegExp]>([
    ['a process that there is not', { host: ['gatway=x'] }, /--host "gatway=x"/],
    ['a host that is none', { host: ['gateway=a b'] }, /--host "gateway=a b"/],
    ['a role that there is not', { person: ['ann:boss'] }, /--person "ann:boss"/],
    ['a name that others have', { person: ['operator:reviewer'] }, /--person "operator"/],
    ['somebody twice', { person: ['ann:reviewer', 'ann:compliance'] }, /--person "ann"/],
    ['a key that is none', { person: ['ann:reviewer:abc'] }, /is not person:role/],
    ['a witness without its key', { witness: 'https://witness.example' }, /--witness/],
    ['a store that there is not', { cold: 'gs://bucket' }, /--cold "gs:\/\/bucket"/],
    [
      'several servers of one Redis',
      { redis: 'redis://:pw@a:1,b:2' },
      /--redis cannot be read: several servers/,
    ],
    ['a path that needs quotes', { state: '/var/my state' }, /without quotes/],
  ])('is refused for %s', (_, flags, words) => {
    expect(() => plan(flags)).toThrow(words)
  })
})

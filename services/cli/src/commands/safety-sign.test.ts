// `safety sign` adds one person's signature where it is missing, prints the file and writes none, and signs nothing that would not count.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openExemptions } from '@baton/engine'
import { parsePeople, personEntry, readDecisionSigner } from '@baton/ledger'
import type { Role } from '@baton/ledger'
import type { Context } from '../context.ts'
import { createOutput } from '../terminal/output.ts'
import { safetySign } from './safety-sign.ts'

function newPerson(name: string, role: Role = 'reviewer') {
  const { privateKey } = generateKeyPairSync('ed25519')
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  return { secret, entry: personEntry(name, [role], readDecisionSigner(secret).publicKey) }
}

const ann = newPerson('ann')
const bob = newPerson('bob')
const counsel = newPerson('counsel', 'compliance')
const stranger = newPerson('stranger')
const BATON_PEOPLE = [ann, bob, counsel].map(({ entry }) => entry).join(',')

const ENTRY = {
  from: 'intake',
  to: 'reader',
  rule: 'persona',
  pointer: '/currentState/log',
  until: new Date(Date.now() + 86_400_000).toISOString(),
  reason: 'game scripts are data here',
  signatures: [] as readonly string[],
}

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-sign-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function write(text: string): string {
  const path = join(folder, `${crypto.randomUUID()}.json`)
  writeFileSync(path, text)
  return path
}

async function sign(path: string, { secret }: { readonly secret: string }) {
  const written = { out: '', err: '' }
  const output = createOutput(
    {
      stdout: { write: (line: string | Uint8Array) => (written.out += String(line)) },
      stderr: { write: (line: string) => (written.err += line) },
    },
    false,
  )
  const settings = { BATON_PEOPLE, BATON_PERSON_KEY: secret }
  const exitCode = await safetySign({ output, settings } as unknown as Context, path)
  expect(exitCode).toBe(0)
  return written
}

it('adds the signatures of two people, one after the other, which count where handoffs are judged', async () => {
  const path = write(JSON.stringify({ exemptions: [ENTRY] }))
  const before = readFileSync(path, 'utf8')
  const first = await sign(path, ann)
  expect(readFileSync(path, 'utf8')).toBe(before)
  expect(first.err).toContain('Signed as ann: ')
  expect(first.err).toContain(
    'persona counts for nothing in /currentState/log of what intake sends to reader',
  )
  const second = write((await sign(write(first.out), bob)).out)
  expect(openExemptions(second, parsePeople(BATON_PEOPLE))).toMatchObject([
    { rule: 'persona', signed: [{ person: 'ann' }, { person: 'bob' }] },
  ])
  const again = await sign(second, bob)
  expect(again.err).not.toContain('Signed as')
  expect(JSON.parse(again.out)).toEqual(JSON.parse(readFileSync(second, 'utf8')))
})

it.each([
  ['a person whose role is another', counsel],
  ['somebody whom nobody knows', stranger],
])('signs nothing for %s', async (_, person) => {
  const path = write(JSON.stringify({ exemptions: [ENTRY] }))
  await expect(sign(path, person)).rejects.toMatchObject({ code: 'BATON_USAGE' })
})

it('signs no file that is none', async () => {
  const path = write(JSON.stringify({ exemptions: [{ ...ENTRY, pointer: '' }] }))
  await expect(sign(path, ann)).rejects.toMatchObject({ code: 'BATON_EXEMPTIONS_INVALID' })
})

it.each([
  ['a rule that the scanner has not', { rule: 'persana' }, /\/exemptions\/1\/rule: persana/],
  ['what has ended', { until: '2020-01-01T00:00:00.000Z' }, /\/exemptions\/1\/until: it ended/],
  [
    'more than 30 days',
    { until: new Date(Date.now() + 31 * 86_400_000).toISOString() },
    /\/exemptions\/1\/until: it holds for more than 30 days/,
  ],
])('signs nothing where an exemption is for %s', async (_, change, message) => {
  const path = write(JSON.stringify({ exemptions: [ENTRY, { ...ENTRY, ...change }] }))
  await expect(sign(path, ann)).rejects.toMatchObject({
    code: 'BATON_USAGE',
    message: expect.stringMatching(message),
  })
})

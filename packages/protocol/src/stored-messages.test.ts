// Signed bytes as a release of each minor stored them: what waits in a database while it is upgraded is still taken, byte for byte.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sampleAgent, sampleKeyRing, sampleScan } from '../fixtures/sample-handoff.ts'
import { judgeHandoff } from './judge-handoff.ts'
import { MINORS_BACK, NEWEST_MINOR } from './schema-version.ts'

/** Every minor that this code has to take; a new one without its stored message fails here. */
const MINORS = Array.from({ length: MINORS_BACK + 1 }, (_, back) => NEWEST_MINOR - back)
  .filter((minor) => minor >= 0)
  .map((minor) => `2.${minor}`)

function storedIn(version: string) {
  const file = readFileSync(new URL(`../fixtures/stored/${version}.json`, import.meta.url), 'utf8')
  const { body, ...signed } = JSON.parse(file) as Record<'body' | 'keyId' | 'signature', string>
  return { bytes: Buffer.from(body), ...signed }
}

const OPTIONS = { agent: sampleAgent, keyRing: sampleKeyRing, scan: sampleScan }

it.each(MINORS)('a message stored as %s is accepted', (version) => {
  const stored = storedIn(version)
  expect(judgeHandoff(stored, OPTIONS)).toMatchObject({
    valid: true,
    message: { schemaVersion: version },
  })
  const changed = Buffer.from(stored.bytes.toString().replace(version, '2.7'))
  expect(judgeHandoff({ ...stored, bytes: changed }, OPTIONS)).toMatchObject({
    reason: 'SIGNATURE_INVALID',
  })
})

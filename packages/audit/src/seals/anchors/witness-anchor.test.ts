// A policy names witnesses by HTTP alone: nothing else is opened or called in a witness's name.
import { generateKeyPairSync } from 'node:crypto'
import { createCosigner, createNoteSigner, formatVerifierKey } from '@baton/ledger'
import { expect, it } from 'vitest'
import { readWitnessUrls } from './witness-anchor.ts'

const pkcs8 = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'der' })
    .toString('base64')
const LOG = formatVerifierKey(createNoteSigner({ name: 'log', pkcs8: pkcs8() }).key)
const WITNESS = formatVerifierKey(createCosigner({ name: 'w', pkcs8: pkcs8() }).key)

const policyWith = (url: string) =>
  Buffer.from(`log ${LOG}\nwitness w ${WITNESS} ${url}\nquorum none\n`)

it.each(['http://127.0.0.1:1/w', 'https://witness.example/w'])('a witness is at %s', (url) => {
  expect(readWitnessUrls(policyWith(url)).witnesses.map((one) => one.url)).toEqual([url])
})

it.each(['file:///etc/passwd', 'ftp://witness.example/', 'data:text/plain,w', 'witness.example'])(
  'no witness is at %s',
  (url) => {
    expect(() => readWitnessUrls(policyWith(url))).toThrowError(
      expect.objectContaining({ code: 'BATON_POLICY_INVALID' }),
    )
  },
)

// `safety key` and `safety pack`: a key that signs artefacts of the scanner, and a trained model made into a signed one.
import { generateKeyPairSync } from 'node:crypto'
import { createActiveScanner, scannerOf, signArtefact } from '@baton/engine'
import { createNoteSigner, formatVerifierKey } from '@baton/ledger'
import type { NoteSigner } from '@baton/ledger'
import { permanent, replaceFile } from '@baton/runtime'
import { ARTEFACT_BYTES_MAX, EMBEDDED_MODEL, readArtefact, scannerFault } from '@baton/safety'
import type { Model } from '@baton/safety'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { readInput } from './read-input.ts'

/** Makes a key pair: the private half for who packs, the public one for every process that judges. Kept nowhere. */
export function makeArtefactKey({ output }: Pick<Context, 'output'>, name: string): ExitCode {
  if (!/^[!-*,-~]{1,128}$/.test(name)) throw NAME_INVALID
  const { privateKey } = generateKeyPairSync('ed25519')
  const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
  const entry = formatVerifierKey(createNoteSigner({ name, pkcs8 }).key)
  const secret = `${name}+${pkcs8}`
  if (output.json) output.data(JSON.stringify({ name, privateKey: secret, entry }))
  else output.data(`BATON_SAFETY_SIGNING_KEY=${secret}`)
  output.words('The line above is for who signs artefacts, and is kept nowhere else.')
  output.words(`Gateways and receivers get, in BATON_SAFETY_KEYS:\n  ${entry}`)
  output.next('npm run baton -- safety pack MODEL --as-version 1 --out FILE')
  return EXIT.fine
}

const NAME_INVALID = permanent('BATON_USAGE', 'that is no name of a key', {
  fix: 'Take up to 128 printable ASCII characters without spaces and plus signs.',
})

interface Packing {
  /** An artefact, whose model is taken whoever signed it; the model of the package where it is missing. */
  readonly model: string | undefined
  readonly version: number
  readonly out: string
}

/** Writes it only where receivers of this version would take it. Throws BATON_USAGE, BATON_SAFETY_ARTEFACT_UNFIT and BATON_FILE_NOT_WRITTEN. */
export async function safetyPack(
  { output, settings }: Pick<Context, 'output' | 'settings'>,
  { model: path, version, out }: Packing,
): Promise<ExitCode> {
  const signer = signerOf(settings.BATON_SAFETY_SIGNING_KEY)
  const model = path === undefined ? EMBEDDED_MODEL : await readModel(path)
  const scanner = scannerOf(model)
  const fault = await scannerFault(scanner, createActiveScanner())
  if (fault !== undefined) throw unfit(fault)
  await replaceFile(out, signArtefact({ version, model }, signer)).catch((cause: unknown) => {
    throw permanent('BATON_FILE_NOT_WRITTEN', `${out} cannot be written`, {
      cause,
      fix: 'Name another file with --out.',
    })
  })
  const { rulesetVersion } = scanner
  const { name } = signer.key
  if (output.json) output.data(JSON.stringify({ out, version, signedBy: name, rulesetVersion }))
  else output.data(`${out}: version ${version}, signed by ${name}`)
  output.words(`Whoever judges by it names ruleset ${rulesetVersion} in records.`)
  output.next(
    'put it where BATON_SAFETY_ARTEFACT_FILE of gateways and receivers says, by one rename',
  )
  return EXIT.fine
}

function signerOf(setting: string | undefined): NoteSigner {
  const [, name, pkcs8] = /^([^+]+)\+(.+)$/.exec(setting ?? '') ?? []
  if (name === undefined || pkcs8 === undefined) throw KEY_MISSING
  return createNoteSigner({ name, pkcs8 })
}

const KEY_MISSING = permanent('BATON_USAGE', 'there is no key to sign the artefact with', {
  fix: 'Set BATON_SAFETY_SIGNING_KEY to the line that `baton safety key NAME` printed.',
})

async function readModel(path: string): Promise<Model> {
  const given = await readInput(path, ARTEFACT_BYTES_MAX)
  // Who signed it says nothing here: whoever packs answers for it.
  const [text = '', signatures] = given.split('\n\n')
  const artefact = readArtefact(signatures === undefined ? text : `${text}\n`)
  if (typeof artefact !== 'string') return artefact.model
  throw permanent('BATON_USAGE', `${path} is no model: ${artefact}`, {
    fix: 'Give an artefact, or what `node packages/safety/train-model.ts CORPUS --out FILE` has written.',
  })
}

const unfit = (fault: string) =>
  permanent('BATON_SAFETY_ARTEFACT_UNFIT', `nobody would take it: ${fault}`, {
    fix: 'Train the model with these kinds of text.',
  })

// Something that nobody has signed stands in the file of the scanner's artefact.
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { signArtefact } from '@baton/engine'
import { createNoteSigner, formatVerifierKey } from '@baton/ledger'
import { replaceFile } from '@baton/runtime'
import { EMBEDDED_MODEL, formatArtefact } from '@baton/safety'
import type { GameDay } from '../game-day.ts'

const ARTEFACT = { version: 1, model: EMBEDDED_MODEL }
const fileIn = (home: string): string => join(home, 'artefact')

const { privateKey } = generateKeyPairSync('ed25519')
const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
const signer = createNoteSigner({ name: 'gameday', pkcs8 })

export const artefactRefused: GameDay = {
  name: 'artefact-refused',
  breaks: 'an artefact of the scanner without a signature is put where receivers look for one',
  alerts: ['BatonScannerFileRefused'],
  watched: { metric: 'baton_safety_file_refused', how: 'max' },
  timesFaster: 60,
  seconds: 60,
  perSecond: 2,
  async breakIt({ services, home }) {
    await replaceFile(fileIn(home), formatArtefact(ARTEFACT))
    await services.start('receiver', {
      BATON_SAFETY_ARTEFACT_FILE: fileIn(home),
      BATON_SAFETY_KEYS: formatVerifierKey(signer.key),
    })
  },
  mend: {
    says: [
      'grep safety.artefact_refused .baton/logs/receiver.log   (BATON_SAFETY_ARTEFACT_UNSIGNED)',
      'BATON_SAFETY_SIGNING_KEY=… npm run baton -- safety pack artefact --as-version 1 --out artefact.new',
      'mv artefact.new artefact',
    ],
    run: async ({ home }) => replaceFile(fileIn(home), signArtefact(ARTEFACT, signer)),
  },
}

// Every byte of the file: the container, the digest over the manifest, and the manifest's list.
import { decodeUtf8, encodeUtf8, equalBytes } from '../../bytes.ts'
import { openNote } from '../../note/note.ts'
import { sha256Hex } from '../../sha256.ts'
import type { Check } from '../checks.ts'
import type { Evidence } from '../evidence.ts'
import { exporterText, FILES, manifestDigest, PROOF_RULES, UNLISTED } from '../format.ts'

const NO_RECORDS = {}
const KNOWN: readonly string[] = Object.values(FILES)

export const checkContainer: Check = ({ evidence, log }) => {
  const { files, faults } = evidence.container
  for (const { name, message } of faults) log.fail({ file: name }, message)
  const seen = new Set<string>()
  for (const { name } of files) {
    if (!KNOWN.includes(name)) log.fail({ file: name }, 'a bundle has no file of this name')
    else if (seen.has(name)) log.fail({ file: name }, 'the file stands twice')
    seen.add(name)
  }
  return NO_RECORDS
}

export const checkManifestDigest: Check = ({ evidence: { files }, log }) => {
  const manifest = files.get(FILES.manifest) ?? new Uint8Array(0)
  const expected = manifestDigest(manifest, files.get(FILES.manifestNote))
  const digest = files.get(FILES.manifestDigest)
  if (digest === undefined || !equalBytes(digest, expected)) {
    log.fail({ file: FILES.manifestDigest }, 'it is not the digest of the manifest and its note')
  }
  return NO_RECORDS
}

/** Reads only the version: another version may have another form. */
export const checkVersion: Check = ({ evidence, log }) => {
  const text = decodeUtf8(evidence.files.get(FILES.manifest) ?? new Uint8Array(0)) ?? ''
  const format = /"format":"([^"]*)"/.exec(text)?.[1]
  if (PROOF_RULES.has(format ?? '')) return NO_RECORDS
  const known = [...PROOF_RULES.keys()].join(' or ')
  log.fail({ file: FILES.manifest }, `the version is not ${known}`)
  return NO_RECORDS
}

export const checkManifest: Check = ({ evidence, log }) => {
  const { manifest, files } = evidence
  if (manifest === undefined) {
    log.fail({ file: FILES.manifest }, 'it is missing or cannot be read')
    return NO_RECORDS
  }
  for (const { name, bytes, sha256 } of manifest.files) {
    const file = files.get(name)
    if (file === undefined) log.fail({ file: name }, 'the file is missing')
    else if (file.length !== bytes) log.fail({ file: name }, 'the file has another length')
    else if (sha256Hex(file) !== sha256) log.fail({ file: name }, 'the file has another digest')
  }
  const order = manifest.files.map(({ name }) => name)
  const listed = [...files.keys()].filter((name) => !UNLISTED.includes(name))
  for (const name of listed) {
    if (!order.includes(name)) log.fail({ file: name }, 'the file is not listed')
  }
  if (order.join() !== KNOWN.filter((name) => order.includes(name)).join()) {
    log.fail({ file: FILES.manifest }, 'the list is not in the order of the files')
  }
  if ((manifest.payloads === 'included') !== files.has(FILES.payloads)) {
    log.fail({ file: FILES.payloads }, 'the manifest says otherwise about texts')
  }
  let records = 0
  return {
    record: ({ file }) => (records += Number(file === FILES.records)),
    end() {
      if (records === manifest.records) return
      log.fail({ file: FILES.records }, `the manifest counts ${manifest.records} records`)
    },
  }
}

export const checkExporterSignature: Check = ({ evidence, log }) => {
  const { files, policy } = evidence
  if (policy.exporters.length === 0) {
    log.skip('your policy names no exporter')
    return NO_RECORDS
  }
  const place = { file: FILES.manifestNote }
  const opened = openNote(files.get(FILES.manifestNote) ?? new Uint8Array(0), policy.exporters)
  if (!opened.ok) log.fail(place, 'no exporter of your policy signed it')
  else if (opened.text !== textOf(evidence)) {
    log.fail(place, 'the signature is for another manifest')
  } else log.note(opened.signatures.map(({ name }) => name).join(', '))
  return NO_RECORDS
}

const textOf = ({ files, manifest }: Evidence): string =>
  exporterText(files.get(FILES.manifest) ?? encodeUtf8(''), manifest?.format ?? '')

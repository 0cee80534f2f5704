// From the records up to the auditor's keys: tree, seal entry, seal log, signature, witnesses, time.
import { encodeUtf8, toBase64 } from '../../bytes.ts'
import { parseInstant } from '../../instant.ts'
import { openNote, splitNote } from '../../note/note.ts'
import type { SealEntry } from '../../seal-entry.ts'
import { parseCheckpoint } from '../../tlog/checkpoint.ts'
import type { Checkpoint } from '../../tlog/checkpoint.ts'
import { meetsQuorum } from '../../tlog/policy.ts'
import { hashLeaf } from '../../tree/hash.ts'
import { verifyInclusion } from '../../tree/verify.ts'
import type { Check } from '../checks.ts'
import type { Evidence } from '../evidence.ts'
import { FILES } from '../format.ts'
import { sealCheckpoint } from '../seal-signer.ts'
import { createComputedLeaves } from '../leaves.ts'
import type { ComputedLeaves } from '../leaves.ts'
import { placeOf } from './records.ts'

/** How far clocks may be apart. */
const SKEW_SECONDS = 300
const UNSEALED = 'the bundle holds no seal'

const sealedChain = (seal: SealEntry | undefined, origin: string) =>
  seal?.chains.find((chain) => chain.origin === origin)

export const checkInclusion: Check = ({ evidence: { chains = [], seal }, log }) => {
  const sealed = new Map((seal?.chains ?? []).map((chain) => [chain.origin, chain]))
  const claims = new Map<string, ComputedLeaves>()
  for (const origin of sealed.keys()) {
    claims.set(origin, createComputedLeaves(chains.find((chain) => chain.origin === origin)))
  }
  return {
    record(record) {
      if (record.body === undefined) return
      const { origin, seq } = record.body
      if (seq < (sealed.get(origin)?.size ?? 0)) claims.get(origin)?.put(seq, record.hashHex)
      else log.lack(placeOf(record), 'the record is not sealed yet')
    },
    end() {
      for (const [origin, claim] of claims) {
        if (claim.leadTo(sealed.get(origin)?.root)) continue
        const message =
          'the records do not lead to the sealed root: one of them, or the proof, differs'
        log.fail({ file: FILES.proof, origin }, message)
      }
    },
  }
}

export const checkChainCheckpoint: Check = ({ evidence, log }) => {
  const { chains = [], seal, policy } = evidence
  for (const { origin, size, checkpoint } of chains) {
    const sealed = sealedChain(seal, origin)
    if (sealed === undefined) continue
    const place = { file: FILES.proof, origin }
    if (sealed.size !== size) log.fail(place, 'the proof is for another size than the sealed one')
    if (checkpoint === null) continue
    const note = encodeUtf8(checkpoint)
    const stated = parseCheckpoint(splitNote(note)?.text ?? '')
    const isSame =
      stated?.origin === origin &&
      stated.size === sealed.size &&
      toBase64(stated.root) === sealed.root
    const opened = openNote(note, policy.log.logs)
    if (!isSame) log.fail(place, 'the checkpoint of the chain differs from the seal')
    if (!opened.ok && opened.reason !== 'NO_KNOWN_SIGNATURE') {
      log.fail(place, 'the signature of the checkpoint is wrong')
    }
  }
  return {}
}

export const checkSealEntry: Check = ({ evidence: { files, seal, chains = [] }, log }) => {
  if (!files.has(FILES.seal)) log.lack({ file: FILES.seal }, UNSEALED)
  else if (seal === undefined) log.fail({ file: FILES.seal }, 'it cannot be read as a seal entry')
  else {
    for (const { origin } of chains) {
      if (sealedChain(seal, origin) !== undefined) continue
      log.fail({ file: FILES.seal, origin }, 'the seal does not list the chain')
    }
  }
  return {}
}

const checkpointOf = ({ sealProof }: Evidence): Checkpoint | undefined =>
  sealProof && sealCheckpoint(sealProof.checkpoint)

export const checkSealInclusion: Check = ({ evidence, log }) => {
  const [entry, proof] = [evidence.files.get(FILES.seal), evidence.sealProof]
  const checkpoint = checkpointOf(evidence)
  const place = { file: FILES.sealProof }
  if (entry === undefined && !evidence.files.has(FILES.sealProof)) log.lack(place, UNSEALED)
  else if (entry === undefined || proof === undefined || checkpoint === undefined) {
    log.fail(place, 'the proof of the seal is missing or cannot be read')
  } else {
    const claim = { index: proof.index, proof: proof.path, leafHash: hashLeaf(entry) }
    if (!verifyInclusion({ ...claim, size: checkpoint.size, root: checkpoint.root })) {
      log.fail(place, 'the seal does not stand in the seal log at this index')
    }
    if (proof.extra !== null) log.fail(place, 'the proof carries extra data')
  }
  return {}
}

export const checkSealSignature: Check = ({ evidence, log }) => {
  const [opened, checkpoint] = [evidence.sealNote, checkpointOf(evidence)]
  const place = { file: FILES.sealProof }
  if (opened === undefined) log.lack(place, UNSEALED)
  else if (!opened.ok) log.fail(place, FAULTS[opened.reason])
  else {
    // A log's key vouches for its own log only, and only for as much of it as it was in force.
    const { inForce, fault } = evidence.sealSigners ?? { inForce: [] }
    const isSigned = opened.signatures.some(({ name, keyId }) =>
      inForce.some((key) => key.name === name && key.keyId === keyId),
    )
    if (!isSigned) {
      log.fail(place, fault ?? 'no log of your policy signed this checkpoint as its own')
    }
    log.note(`${checkpoint?.origin ?? ''}, ${checkpoint?.size ?? 0} seals`)
  }
  return {}
}

const FAULTS = {
  MALFORMED: 'the checkpoint is not a signed note',
  AMBIGUOUS_KEY: 'your policy names a key twice',
  INVALID_SIGNATURE: 'a signature by a key of your policy is wrong',
  NO_KNOWN_SIGNATURE: 'no key of your policy signed it',
} as const

export const checkWitnessQuorum: Check = ({ evidence, log }) => {
  const { policy } = evidence
  const opened = evidence.sealNote
  const signatures = opened?.ok === true ? opened.signatures : []
  const names = signatures.filter(({ timestamp }) => timestamp !== null).map(({ name }) => name)
  const isMet = meetsQuorum(policy.log, ({ name, keyId }) =>
    signatures.some((signature) => signature.name === name && signature.keyId === keyId),
  )
  if (policy.log.quorum === null) log.skip('your policy asks for no witness')
  else if (!isMet)
    log.lack({ file: FILES.sealProof }, 'too few witnesses of your policy cosigned it')
  else log.note(names.join(', '))
  return {}
}

export const checkSealTime: Check = ({ evidence, log }) => {
  const { seal, now } = evidence
  if (seal === undefined) {
    log.skip(UNSEALED)
    return {}
  }
  const sealedAt = (parseInstant(seal.at) ?? 0) / 1e6
  // Whoever signs the seal could write any time into it: a time that cannot be is a wrong clock, and no edit.
  if (sealedAt > now + SKEW_SECONDS) log.lack({ file: FILES.seal }, 'the seal is from the future')
  const opened = evidence.sealNote
  for (const { name, timestamp } of opened?.ok === true ? opened.signatures : []) {
    if (timestamp === null) continue
    const isPlausible = timestamp >= sealedAt - SKEW_SECONDS && timestamp <= now + SKEW_SECONDS
    if (!isPlausible) log.lack({ file: FILES.sealProof }, `${name} cosigned at an impossible time`)
  }
  const sizes = new Map(seal.chains.map(({ origin, size }) => [origin, size]))
  return {
    record(record) {
      const { body } = record
      if (body === undefined || body.recordedAt <= seal.at) return
      if (body.seq < (sizes.get(body.origin) ?? 0)) {
        log.lack(placeOf(record), 'the record is later than the seal that covers it')
      }
    },
  }
}

// A C2SP tlog-witness as an anchor: it cosigns a checkpoint only after checking that it extends its last one.
import {
  encodeUtf8,
  formatNote,
  openNote,
  parsePolicy,
  policyItems,
  policyLines,
  readDecimal,
  splitNote,
  toBase64,
} from '@baton/ledger'
import type { Policy, VerifierKey } from '@baton/ledger'
import { BatonError, NO_TLS, permanent, refusePlainUrl, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { Anchor, AnchoredCheckpoint, AnchorOutcome } from './anchor.ts'
import { askWitness } from './ask-witness.ts'
import type { WitnessAnswer } from './ask-witness.ts'

interface WitnessOptions {
  /** The prefix to which `/add-checkpoint` is added. */
  readonly url: string
  /** Who the witness is; its cosignature is verified before it counts. */
  readonly key: VerifierKey
  /** The log's signed checkpoint of size 0, which every log extends: asks what the witness knows. */
  readonly emptyNote: () => string
  /** The size that the witness acknowledged last; the witness corrects it. */
  readonly knownSize: () => number
  readonly timeoutMs?: number
  readonly tls?: Tls | undefined
}

/** The body of add-checkpoint by C2SP tlog-witness. */
function requestBody(
  from: number,
  proof: readonly Uint8Array[],
  { note }: { readonly note: string },
): string {
  const hashes = proof.map((hash) => `${toBase64(hash)}\n`).join('')
  return `old ${from}\n${hashes}\n${note}`
}

/** Throws BATON_PLAINTEXT_REFUSED; when asked, BATON_ANCHOR_UNAVAILABLE while the witness does not answer, or signs with another key. */
export function createWitnessAnchor(options: WitnessOptions): Anchor {
  const { key, timeoutMs = 1_000, tls = NO_TLS } = options
  refusePlainUrl(tls, { url: options.url, setting: 'BATON_SEAL_POLICY_FILE' })
  const url = new URL('add-checkpoint', options.url.endsWith('/') ? options.url : `${options.url}/`)
  const failed = (what: string, cause?: unknown) =>
    transient('BATON_ANCHOR_UNAVAILABLE', `the witness ${key.name} ${what}`, {
      cause,
      fix: 'Check its URL and whether it knows this log; sealing goes on meanwhile.',
    })

  const post = async (body: string): Promise<WitnessAnswer> => {
    try {
      return await askWitness(url, { body, timeoutMs, tls })
    } catch (cause) {
      if (cause instanceof BatonError) throw cause
      throw failed('did not answer', cause)
    }
  }

  const offer = async (checkpoint: AnchoredCheckpoint, from: number): Promise<WitnessAnswer> =>
    post(requestBody(from, await checkpoint.prove(from), checkpoint))

  return {
    name: `witness ${key.name}`,
    async publish(checkpoint) {
      let answer = await offer(checkpoint, Math.min(options.knownSize(), checkpoint.size))
      const known = answer.status === 409 ? readDecimal(answer.body.trim()) : undefined
      if (known !== undefined && known < options.knownSize()) {
        const message = `the witness ${key.name} has seen size ${known}, and had cosigned ${options.knownSize()}`
        return { kind: 'conflict', message }
      }
      if (known !== undefined && known <= checkpoint.size) answer = await offer(checkpoint, known)
      if (answer.status === 200) return cosigned(checkpoint, answer.body, key) ?? badSignature(key)
      if (answer.status === 409 || answer.status === 422) {
        const message = `the witness ${key.name} answered ${answer.status}: ${knows(answer)}`
        return { kind: 'conflict', message }
      }
      throw failed(`answered ${answer.status}`)
    },
    async latest() {
      const answer = await post(requestBody(0, [], { note: options.emptyNote() }))
      const known = answer.status === 409 ? readDecimal(answer.body.trim()) : undefined
      if (known !== undefined) return { size: known, root: null }
      if (answer.status === 200) return undefined
      throw failed(`answered ${answer.status}`)
    },
  }
}

const knows = ({ status, body }: WitnessAnswer): string =>
  status === 409 ? `it has seen size ${body.trim()}` : 'the log it has seen is another one'

/** The checkpoint with the witness's line added; undefined when the line is not the witness's. */
function cosigned(
  checkpoint: AnchoredCheckpoint,
  lines: string,
  key: VerifierKey,
): AnchorOutcome | undefined {
  const split = splitNote(encodeUtf8(checkpoint.note))
  const added = splitNote(encodeUtf8(`${split?.text ?? ''}\n${lines}`))
  if (split === undefined || added === undefined) return undefined
  const own = added.signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId)
  const signatures = [...split.signatures, ...own]
  const note = formatNote({ text: split.text, signatures })
  const opened = openNote(encodeUtf8(note), [key])
  if (!opened.ok) return undefined
  return { kind: 'kept', note, atSeconds: opened.signatures[0]?.timestamp ?? null }
}

const badSignature = (key: VerifierKey): never => {
  throw transient('BATON_ANCHOR_UNAVAILABLE', `the witness ${key.name} signed with another key`, {
    fix: 'Give the verifier key that the witness prints when it starts.',
  })
}

/** Where a witness of a C2SP policy file is reached; the policy says who it is. */
interface PolicyWitness {
  readonly key: VerifierKey
  readonly url: string
}

/** The policy and the witnesses that have a URL in it. Throws BATON_POLICY_INVALID with the line. */
export function readWitnessUrls(file: Uint8Array): {
  readonly policy: Policy
  readonly witnesses: readonly PolicyWitness[]
} {
  const parsed = parsePolicy(file)
  if (!parsed.ok) throw policyInvalid(`line ${parsed.line}: ${parsed.message}`)
  const witnesses: PolicyWitness[] = []
  for (const line of policyLines(file)) {
    const [keyword, name = '', , url] = policyItems(line)
    const key = keyword === 'witness' ? parsed.policy.witnesses.get(name) : undefined
    if (key === undefined || url === undefined) continue
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      throw policyInvalid(`the witness ${name} has no valid URL`)
    witnesses.push({ key, url })
  }
  return { policy: parsed.policy, witnesses }
}

const policyInvalid = (what: string) =>
  permanent('BATON_POLICY_INVALID', `the policy file cannot be used: ${what}`, {
    fix: 'Write it as C2SP tlog-policy says: log, witness, group and quorum lines.',
  })

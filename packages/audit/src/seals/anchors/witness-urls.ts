// Where the witnesses of a C2SP policy file are reached; the policy itself says who they are.
import { decodeUtf8, parsePolicy } from '@baton/ledger'
import type { Policy, VerifierKey } from '@baton/ledger'
import { permanent } from '@baton/runtime'

export interface PolicyWitness {
  readonly key: VerifierKey
  readonly url: string
}

/** The policy and the witnesses that have a URL in it. Throws BATON_POLICY_INVALID with the line. */
export function readWitnessUrls(file: Uint8Array): {
  readonly policy: Policy
  readonly witnesses: readonly PolicyWitness[]
} {
  const parsed = parsePolicy(file)
  if (!parsed.ok) throw invalid(`line ${parsed.line}: ${parsed.message}`)
  const witnesses: PolicyWitness[] = []
  for (const line of (decodeUtf8(file) ?? '').split('\n')) {
    const [keyword, name = '', , url] = line.split(/[ \t]+/).filter((item) => item !== '')
    const key = keyword === 'witness' ? parsed.policy.witnesses.get(name) : undefined
    if (key === undefined || url === undefined) continue
    if (!URL.canParse(url)) throw invalid(`the witness ${name} has no valid URL`)
    witnesses.push({ key, url })
  }
  return { policy: parsed.policy, witnesses }
}

const invalid = (what: string) =>
  permanent('BATON_POLICY_INVALID', `the policy file cannot be used: ${what}`, {
    fix: 'Write it as C2SP tlog-policy says: log, witness, group and quorum lines.',
  })

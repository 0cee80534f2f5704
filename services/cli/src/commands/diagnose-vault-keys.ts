// The keys of the vault: everything is under one that is here, and how far a change has come.
import type { VaultProgress } from '@baton/audit'
import type { OpenedDatabases } from '../instance/databases.ts'
import { counted } from '../terminal/figures.ts'
import { failed, passed } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'

const SETTINGS = {
  wrapping: 'BATON_AUDIT_WRAPPING_KEY',
  lookup: 'BATON_AUDIT_LOOKUP_KEY',
} as const

/** One for each key. A change under way is no fault: it says what is left, and whether the earlier key can go. */
export async function diagnoseVaultKeys({ audit }: OpenedDatabases): Promise<Diagnosis[]> {
  const progress = await audit.keyProgress()
  return (['wrapping', 'lookup'] as const).map((key) => diagnose(key, progress[key]))
}

function diagnose(
  key: keyof typeof SETTINGS,
  { current, earlier, missing }: VaultProgress['wrapping'],
): Diagnosis {
  const rule = `everything in the vault is under a ${key} key that is here`
  if (missing.length > 0) {
    const text = `${SETTINGS[key]} lacks keys that are still needed: put them back behind the current one`
    const ids = missing.map(({ keyId, rows }) => `${counted(rows, 'row')} under ${keyId}`)
    return failed('vault', rule, { text, ids })
  }
  const text = [`current ${current}`, ...earlier.map(saidOf)].join('; ')
  return { ...passed('vault', rule, text), isTold: earlier.length > 0 }
}

function saidOf({ keyId, rows, unnamed }: VaultProgress['wrapping']['earlier'][number]): string {
  if (rows === 0) return `nothing under ${keyId}, which can be taken out`
  const until = unnamed === 0 ? '' : `, ${unnamed} of them until their people are seen again`
  return `${counted(rows, 'row')} still under ${keyId}${until}`
}

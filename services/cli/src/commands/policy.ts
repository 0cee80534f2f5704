// `policy`: the keys that evidence is verified against, for whoever shall verify it.
import { readFile, writeFile } from 'node:fs/promises'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { sealFiles } from '../instance/seal-files.ts'

/** Prints the policy, or writes it to a file. */
export async function policy(
  context: Context,
  { out }: { readonly out?: string | undefined },
): Promise<ExitCode> {
  const { output } = context
  const text = await readPolicy(context)
  if (output.json) output.data(JSON.stringify({ policy: text, file: out ?? null }))
  else if (out === undefined) output.data(text.trimEnd())
  if (out !== undefined) await writeFile(out, text)
  output.words(
    'Public keys only. An auditor must get them by another way than the evidence itself,',
  )
  output.words('and should ask for at least one witness that is not yours.')
  return EXIT.fine
}

async function readPolicy(context: Context): Promise<string> {
  if (context.settings.BATON_AUDIT_URL !== undefined) {
    const { withAuditor } = await import('../auditor-client.ts')
    return withAuditor(context, 'evidence', async (auditor) =>
      (await auditor.ask('/v1/policy')).bytes.toString(),
    )
  }
  try {
    return await readFile(sealFiles(context.home).policy, 'utf8')
  } catch (cause) {
    throw permanent('BATON_INSTANCE_MISSING', `there is no policy in ${context.home} yet`, {
      cause,
      fix: 'Start Baton once, or name the auditor with BATON_AUDIT_URL.',
    })
  }
}

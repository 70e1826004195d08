import { t } from '../../texts.ts'
import { Note } from '../../ui/states.tsx'
import { Literal } from '../../ui/values.tsx'
import type { ValidationState } from './use-validation.ts'

/** The verdict of the server about a draft, as it is typed. */
export function ValidationNote({
  validation: { data, isPending },
}: {
  validation: ValidationState
}) {
  if (!data) return null
  const lines = data.errors.map(({ path, message }) => `${path}: ${message}`)
  return (
    <div aria-live="polite">
      {data.valid ? (
        <Note tone="allow">{isPending ? t.policies.checking : t.policies.valid}</Note>
      ) : (
        <Note tone="deny">
          <ul>
            {lines.map((line) => (
              <li key={line}>
                <Literal>{line}</Literal>
              </li>
            ))}
          </ul>
        </Note>
      )}
      {data.warnings.map((warning) => (
        <Note key={warning} tone="wait">
          <Literal>{warning}</Literal>
        </Note>
      ))}
    </div>
  )
}

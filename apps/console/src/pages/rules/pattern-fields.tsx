import { t } from '../../texts.ts'
import { TextArea } from '../../ui/field.tsx'
import { Grid } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'

interface PatternFieldsProps<Name extends string> {
  /** Each name with its label. */
  readonly fields: readonly (readonly [name: Name, label: string])[]
  readonly values: Readonly<Record<Name, string>>
  readonly onValue: (name: Name, text: string) => void
  readonly faultOf: (name: Name) => string | undefined
  readonly isReadOnly: boolean
  readonly hint?: string
}

/** Lists of patterns, one a line. */
export function PatternFields<Name extends string>(props: PatternFieldsProps<Name>) {
  const { fields, values, onValue, faultOf, isReadOnly, hint = t.policies.patternsHint } = props
  return (
    <div>
      <Grid>
        {fields.map(([name, label]) => (
          <TextArea
            key={name}
            mono
            readOnly={isReadOnly}
            label={label}
            value={values[name]}
            fault={faultOf(name)}
            onValue={(text) => onValue(name, text)}
          />
        ))}
      </Grid>
      <p className={ui['hint']}>{hint}</p>
    </div>
  )
}

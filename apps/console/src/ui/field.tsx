import { useId } from 'react'
import type { ComponentProps, ReactNode } from 'react'
import { classes } from './button.tsx'
import styles from './ui.module.css'
import { Literal } from './values.tsx'

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly fault?: string | undefined
  readonly children: (props: {
    id: string
    className: string
    'aria-invalid'?: true
    'aria-describedby'?: string
  }) => ReactNode
}

function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  const isNoted = Boolean(hint ?? fault)
  return (
    <div className={styles['field']}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        className: styles['input'] ?? '',
        ...(fault && { 'aria-invalid': true }),
        ...(isNoted && { 'aria-describedby': noteId }),
      })}
      {isNoted && (
        <div id={noteId}>
          {fault && (
            <Literal as="div" className={styles['fault']}>
              {fault}
            </Literal>
          )}
          {hint && <div className={styles['hint']}>{hint}</div>}
        </div>
      )}
    </div>
  )
}

interface Shared {
  readonly label: string
  readonly hint?: ReactNode
  readonly fault?: string | undefined
}

type InputProps = Shared &
  Omit<ComponentProps<'input'>, 'onChange' | 'value'> & {
    readonly value: string
    readonly onValue: (value: string) => void
    readonly mono?: boolean
  }

export function Input({ label, hint, fault, onValue, mono, ...rest }: InputProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {({ className, ...props }) => (
        <input
          autoComplete="off"
          spellCheck={false}
          {...rest}
          {...props}
          className={classes(className, mono && styles['mono'])}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  )
}

type UtcInputProps = Omit<InputProps, 'value' | 'onValue' | 'type'> & {
  /** RFC 3339 in UTC; null for none. */
  readonly value: string | null
  readonly onValue: (at: string | null) => void
}

/** A time in UTC, to the minute. A time with seconds keeps them until it is changed. */
export const UtcInput = ({ value, onValue, ...rest }: UtcInputProps) => (
  <Input
    {...rest}
    type="datetime-local"
    value={value?.slice(0, 16) ?? ''}
    onValue={(text) => onValue(text === '' ? null : `${text.slice(0, 16)}:00.000Z`)}
  />
)

type AreaProps = Shared &
  Omit<ComponentProps<'textarea'>, 'onChange' | 'value'> & {
    readonly value: string
    readonly onValue: (value: string) => void
    readonly mono?: boolean
  }

export function TextArea({ label, hint, fault, onValue, mono, ...rest }: AreaProps) {
  return (
    <Field label={label} hint={hint} fault={fault}>
      {({ className, ...props }) => (
        <textarea
          spellCheck={false}
          {...rest}
          {...props}
          className={classes(className, mono && styles['mono'])}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  )
}

type SelectProps = Shared & {
  readonly value: string
  readonly onValue: (value: string) => void
  /** A text is a value that is its own label. */
  readonly options: readonly (string | readonly [value: string, label: string])[]
  readonly disabled?: boolean
}

const labelled = (option: SelectProps['options'][number]) =>
  typeof option === 'string' ? ([option, option] as const) : option

export function Select(props: SelectProps) {
  const { label, hint, fault, value, onValue, options, disabled } = props
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(field) => (
        <select
          {...field}
          disabled={disabled}
          value={value}
          onChange={(event) => onValue(event.target.value)}
        >
          {options.map(labelled).map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** One of a few choices, as buttons side by side. */
export function Choice({ label, value, options, onValue }: Omit<SelectProps, 'hint' | 'fault'>) {
  return (
    <fieldset className={styles['choice']} aria-label={label}>
      {options.map(labelled).map(([option, text]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          onClick={() => onValue(option)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}

interface CheckProps {
  readonly label: ReactNode
  readonly hint?: ReactNode
  readonly isOn: boolean
  readonly onToggle: (isOn: boolean) => void
  readonly disabled?: boolean
}

export function Checkbox({ label, hint, isOn, onToggle, disabled }: CheckProps) {
  return (
    <label className={styles['check']}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={disabled}
        onChange={(event) => onToggle(event.target.checked)}
      />
      <span>
        {label}
        {hint && <div className={styles['hint']}>{hint}</div>}
      </span>
    </label>
  )
}

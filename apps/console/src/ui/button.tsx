import type { ComponentProps } from 'react'
import styles from './ui.module.css'

interface ButtonProps extends ComponentProps<'button'> {
  readonly tone?: 'primary' | 'danger' | 'quiet' | undefined
  /** Only an icon: needs `aria-label`. */
  readonly icon?: boolean
}

export const classes = (...names: (string | false | undefined)[]): string =>
  names.filter(Boolean).join(' ')

/** The class of a button, for links that look like one. */
export const buttonClass = (tone?: ButtonProps['tone'], icon = false): string =>
  classes(styles['button'], tone && styles[tone], icon && styles['icon'])

export function Button({ tone, icon, className, type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={classes(buttonClass(tone, icon), className)} {...rest} />
}

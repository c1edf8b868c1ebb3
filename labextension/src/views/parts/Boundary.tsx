/** Keeps what goes wrong in one view from the others: it says so in one line, and can be drawn again. */
import { Component, type ComponentChildren } from 'preact';
import { line } from '../format';
import { Button } from './Button';

interface BoundaryProps {
  title: string;
  children: ComponentChildren;
}

export class Boundary extends Component<BoundaryProps, { wrong: string }> {
  override state = { wrong: '' };

  override componentDidCatch(wrong: unknown): void {
    this.setState({ wrong: line(String((wrong as Error)?.message ?? wrong), 200) || 'no reason given' });
  }

  override render({ title, children }: BoundaryProps) {
    if (!this.state.wrong) {
      return children;
    }
    return (
      <p class="e-stop" role="alert">
        {title} could not be drawn: {this.state.wrong}{' '}
        <Button tone="quiet" onClick={() => this.setState({ wrong: '' })}>
          Try again
        </Button>
      </p>
    );
  }
}
